"""Texts that stand in a column for those that it cannot hold."""

from __future__ import annotations

import pytest

from dshstore.formats.dsh.columns import column_text, whole_text
from dshstore.jsontext import JsonError


@pytest.mark.parametrize(
    ("kind", "payload", "text"),
    [
        ("t", '{"a": 1.0}', '{"a": 1.0}'),
        ("t", '{"a":1,"a":2}', '{"a":2}'),
        ("tool/result", '{"a":1.0,"b":"1.0"}', '{"a":1,"b":"1.0"}'),
        ("tool/result", '{"a": 1}', '{"a": 1}'),
        ("tool/result", '{"a":"\\\\","b":1e2,"c":"\\""}', '{"a":"\\\\","b":100,"c":"\\""}'),
    ],
)
def test_a_payload_is_stored_as_it_is_or_as_sql_can_compare_it(
    kind: str, payload: str, text: str
) -> None:
    assert column_text(payload.encode(), kind) == (text, text != payload)


@pytest.mark.parametrize("payload", [b"", b'{"a"', b'"\xff"'])
def test_what_is_no_json_in_utf8_has_no_text(payload: bytes) -> None:
    with pytest.raises(JsonError):
        column_text(payload, "t")


def test_half_a_surrogate_pair_in_a_type_is_replaced() -> None:
    assert whole_text("a\ud83c/b") == "a\ufffd/b"
    assert whole_text("\ud83c\udf31") == "\N{SEEDLING}"
