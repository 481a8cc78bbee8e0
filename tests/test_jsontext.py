"""JSON text: what JavaScript makes of it, and what SQLite may be given."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from dshstore.jsontext import (
    DEEP,
    MAX_DEPTH,
    READABLE_DEPTH,
    JsonError,
    canonical,
    dump,
    dump_bytes,
    parse,
    readable,
    same,
)

#: For tests that start a process for each example, which is a list of many.
in_batches = settings(
    max_examples=4,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[*HealthCheck],
)

HALVES = re.compile("[\ud800-\udfff]")

#: Strings with all that is awkward: quotes, controls, halves of surrogate pairs.
STRINGS = st.text(st.characters(), max_size=8) | st.text(
    st.sampled_from(list('ak"\\/\b\n\0\x1f\x7fé\u2028🌱\ud83c\udf31{}[]:,')), max_size=8
)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


def join_halves(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def values(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | NUMBERS | STRINGS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=12,
    )


VALUES = values(STRINGS.map(join_halves))


@st.composite
def spell(draw: st.DrawFn, value: Any) -> str:
    """A JSON text of the value as some careless program may write it."""
    space = draw(st.sampled_from(["", " ", "\n\t", "\r\n"]))
    if isinstance(value, dict):
        members = [(draw(spell(key)), draw(spell(held))) for key, held in value.items()]
        repeated: bool = draw(st.booleans())
        if members and repeated:
            members.insert(0, (members[-1][0], "0"))
        inner = f"{space},".join(f"{key}{space}:{held}" for key, held in members)
        return f"{{{space}{inner}{space}}}"
    if isinstance(value, list):
        return f"[{space}{f'{space},'.join(draw(spell(held)) for held in value)}{space}]"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=draw(st.booleans()) or bool(HALVES.search(value)))
        return text.replace("k", "\\u006b").replace("/", "\\/") if draw(st.booleans()) else text
    return space + json.dumps(value) + space


TEXTS = VALUES.flatmap(spell)
ALMOST_JSON = st.text(st.sampled_from(list('{}[]:,"\\ \nu0dtf-+.eE1a')), max_size=12)


def nested(levels: int) -> str:
    return (
        '{"a":' * (levels // 2)
        + "[" * (levels - levels // 2)
        + "]" * (levels - levels // 2)
        + "}" * (levels // 2)
    )


def find_command(name: str) -> str:
    command = shutil.which(name)
    if command is None:
        pytest.skip(f"needs {name}")
    return command


def ask_node(program: str, texts: list[str]) -> list[Any]:
    """What `program`, a JavaScript function, makes of each text."""
    program = f"""const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
        console.log(JSON.stringify(texts.map({program})));"""
    command = [find_command("node"), "-e", program]
    answer = subprocess.run(command, input=json.dumps(texts).encode(), capture_output=True)
    answers: list[Any] = json.loads(answer.stdout)
    return answers


def ask_old_sqlite(texts: list[str]) -> list[list[Any]]:
    """The key and the type or text of all that `sqlite3` finds in each JSON text."""
    command = [find_command("sqlite3"), ":memory:", "CREATE TABLE texts(text)"]
    command += [".import --ascii /dev/stdin texts"]
    command += [
        """SELECT (SELECT json_group_array(json_array(key, iif(type = 'text', atom, type)))
            FROM json_tree(text)) FROM texts"""
    ]
    answer = subprocess.run(command, input="\x1e".join(texts).encode(), capture_output=True)
    return [json.loads(line) for line in answer.stdout.decode().split("\n")[:-1]]


def list_nodes(value: Any, key: str | int | None = None) -> list[Any]:
    """What SQLite should find in a value, see `ask_old_sqlite`."""
    if isinstance(value, dict):
        held = [node for name, item in value.items() for node in list_nodes(item, name)]
        return [[key, "object"], *held]
    if isinstance(value, list):
        held = [node for place, item in enumerate(value) for node in list_nodes(item, place)]
        return [[key, "array"], *held]
    if value is None or isinstance(value, bool):
        return [[key, dump(value)]]
    if isinstance(value, str):
        return [[key, value]]
    return [[key, "integer" if isinstance(value, int) else "real"]]


def readable_meaning(value: Any) -> Any:
    """A parsed value with what no column can hold replaced."""
    if isinstance(value, dict):
        pairs = ((readable_meaning(key), readable_meaning(held)) for key, held in value.items())
        return {key.replace("\0", "\ufffd"): held for key, held in pairs}
    if isinstance(value, list):
        return [readable_meaning(held) for held in value]
    return HALVES.sub("\ufffd", value) if isinstance(value, str) else value


# parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}),
        ('{"a":1,"\\u0061":2}', {"a": 2}),
        ('{"__proto__":1}', {"__proto__": 1}),
        ('"\\ud83c"', "\ud83c"),
        ('"\\udf31\\ud83c"', "\udf31\ud83c"),
        ('"\\ud83c\\udf31"', "🌱"),
        ('"\\ud83c\\ud83c\\udf31"', "\ud83c🌱"),
        ('["\\ud83cx",12345678901234567890]', ["\ud83cx", 12345678901234567890]),
        (" \t\r\n1 ", 1),
        ('"\\u0000\x7f\u2028"', "\0\x7f\u2028"),
        ("1e400", float("inf")),
        ("9" * 5000, float("inf")),
        ("-" + "9" * 4000, -int("9" * 4000)),
    ],
)
def test_parse_reads_what_javascript_reads(text: str, value: Any) -> None:
    assert parse(text) == value
    assert parse(text.encode()) == value
    assert list(parse(text)) == list(value) if isinstance(value, dict) else True


@pytest.mark.parametrize(
    ("text", "kind"),
    [("1", int), ("-1", int), ("1.0", float), ("1e3", float), ("-0", float), ("-0.5", float)],
)
def test_parse_makes_ints_of_integer_tokens_alone(text: str, kind: type) -> None:
    for value in (parse(text), parse(f'["\\ud800",{text}]')[1]):
        assert type(value) is kind
        assert value == float(text)
        assert str(float(value)) == str(float(text))


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("[", 1),
        ("[1", 2),
        ("[1,]", 3),
        ('{"a":1,}', 7),
        ("{a:1}", 1),
        ('{"a" 1}', 5),
        ("[1}", 2),
        ("[1 2]", 3),
        ("1 2", 2),
        ("NaN", 0),
        ("-Infinity", 0),
        ("nul", 0),
        ("01", 1),
        ("1.", 1),
        (".5", 0),
        ("+1", 0),
        ("\uff11", 0),
        ("'a'", 0),
        ("\ufeff1", 0),
        ("1\x0c", 1),
        ('"a\x01"', 2),
        ('"a', 0),
        ('"\\x"', 1),
        (b'["\xc3\xa9\xff"]', 3),
        (b'"\xed\xa0\x80"', 1),
    ],
)
def test_parse_refuses_what_is_not_json_and_says_where(text: str | bytes, position: int) -> None:
    with pytest.raises(JsonError) as refused:
        parse(text)
    assert refused.value.position == position
    with pytest.raises(JsonError):
        readable(text)


@given(TEXTS)
def test_parse_agrees_with_the_standard_library(text: str) -> None:
    assert same(parse(text), json.loads(text))
    assert same(parse(text.encode()), json.loads(text))


@given(ALMOST_JSON)
@settings(max_examples=500)
def test_parse_refuses_what_the_standard_library_refuses(text: str) -> None:
    try:
        value = json.loads(text)
    except ValueError:
        with pytest.raises(JsonError):
            parse(text)
    else:
        assert same(parse(text), value)


def test_a_text_may_have_a_thousand_levels_and_no_more() -> None:
    text = nested(MAX_DEPTH)
    assert dump(parse(text)) == text
    assert canonical(text) == text
    assert same(parse(text), parse(text))
    assert not same(parse(text), parse(nested(MAX_DEPTH - 1)))
    for refused in (nested(MAX_DEPTH + 1), "[" * 10**6):
        with pytest.raises(JsonError, match="1000 levels"):
            parse(refused)
        with pytest.raises(JsonError, match="1000 levels"):
            readable(refused)
    with pytest.raises(JsonError, match="1000 levels"):
        dump([parse(text)])


def test_the_number_of_levels_does_not_hang_on_the_stack_that_is_left() -> None:
    def deeper(levels: int) -> Any:
        return deeper(levels - 1) if levels else (parse(text), readable(text), dump(value))

    text = nested(READABLE_DEPTH)
    value = parse(text)
    assert deeper(700) == (value, None, text)


# dump


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1.0, -0.0, 1e21, 1e20, 1e-7, 1e-6], "[1,0,1e+21,100000000000000000000,1e-7,0.000001]"),
        ([1.5e300, 5e-324, 123456789012345680000.0], "[1.5e+300,5e-324,123456789012345680000]"),
        ([float("inf"), -float("inf"), float("nan")], "[null,null,null]"),
        ([2**63, -(2**70)], "[9223372036854775808,-1180591620717411303424]"),
        ('\b\f\n\r\t\x00\x1f\x7f\u2028/"\\é', '"\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\u2028/\\"\\\\é"'),
        ({"\ud83c": "\udf31"}, '{"\\ud83c":"\\udf31"}'),
        ("\ud83c\udf31", '"🌱"'),
        ((True, None, MappingProxyType({"a": ()})), '[true,null,{"a":[]}]'),
        ([{}, [], {"a": {}}], '[{},[],{"a":{}}]'),
    ],
)
def test_dump_writes_like_javascript(value: Any, text: str) -> None:
    assert dump(value) == text
    assert dump_bytes(value) == text.encode()
    assert dump([value, 0.5, "\ud800"]) == f'[{text},0.5,"\\ud800"]'


@pytest.mark.parametrize("value", [b"x", {1: 2}, {None: 1.5}, [1.5, {1}], object()])
def test_dump_refuses_what_has_no_json_form(value: Any) -> None:
    with pytest.raises(TypeError):
        dump(value)


def test_dump_refuses_a_value_within_itself() -> None:
    lists: list[Any] = []
    lists.extend([lists, lists])
    with pytest.raises(JsonError):
        dump(lists)


@given(VALUES)
@example("\ud83c")
@example({"\ud83c": 1e21})
def test_a_dumped_value_reads_the_same(value: Any) -> None:
    assert same(parse(dump(value)), value)
    assert same(parse(dump_bytes(value)), value)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=50))
@in_batches
def test_numbers_are_spelled_as_node_spells_them(numbers: list[float]) -> None:
    texts = [repr(number) for number in numbers]
    assert ask_node("text => JSON.stringify(Number(text))", texts) == [dump(n) for n in numbers]


@given(st.lists(values(STRINGS.map("k{}".format)).map(dump), min_size=20))
@in_batches
def test_canonical_texts_are_those_that_node_writes(texts: list[str]) -> None:
    assert ask_node("text => JSON.stringify(JSON.parse(text))", texts) == [*map(canonical, texts)]


@given(st.lists(ALMOST_JSON, min_size=50))
@in_batches
def test_node_takes_and_refuses_the_same_texts(texts: list[str]) -> None:
    def takes(text: str) -> bool:
        try:
            parse(text)
        except JsonError:
            return False
        return True

    answers = ask_node(
        "text => { try { JSON.parse(text); return true } catch { return false } }", texts
    )
    assert answers == [takes(text) for text in texts]


# canonical and same


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("[1.0, 1e2, -0, 1.10]", "[1,100,0,1.1]"),
        ("[9007199254740993, 12345678901234567890]", "[9007199254740992,12345678901234567000]"),
        ("[1e400, -1e400]", "[9e999,-9e999]"),
        ('{"\\u0061":"\\u0062\\/","b":1,"a":2}', '{"a":2,"b":1}'),
        ('"\\ud83c \\ud83c\\udf31"', '"\\ud83c 🌱"'),
    ],
)
def test_canonical_texts_show_what_javascript_sees(text: str, written: str) -> None:
    assert canonical(text) == canonical(text.encode()) == written
    assert canonical(written) == written


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ("1", "1.0", True),
        ("1", "true", False),
        ("0", "false", False),
        ("0", "null", False),
        ('"1"', "1", False),
        ("-0", "0", True),
        ("9007199254740993", "9007199254740992", True),
        ("9" * 400, "1e400", True),
        ("9" * 400, "-1e400", False),
        ('{"a":1,"b":[2]}', '{"b":[2.0],"a":1}', True),
        ('{"a":1}', '{"a":1,"b":null}', False),
        ("[1,2]", "[2,1]", False),
        ("[1]", "[1,1]", False),
        ("[]", "{}", False),
        ('"\\ud83c"', '"\\ud83d"', False),
        ('"\\ud83c\\udf31"', '"🌱"', True),
    ],
)
def test_values_are_the_same_when_javascript_finds_them_equal(a: str, b: str, equal: bool) -> None:
    assert same(parse(a), parse(b)) is equal
    assert same(parse(b), parse(a)) is equal
    assert same(parse(f'[0,{{"x":{a}}}]'), parse(f'[0,{{"x":{b}}}]')) is equal


def test_halves_that_stand_side_by_side_are_one_character() -> None:
    assert same("\ud83c" + "\udf31", "🌱")
    assert not same("\ud83c", "\\ud83c")


@given(VALUES, VALUES)
def test_same_values_have_the_same_canonical_text_but_for_the_order_of_keys(a: Any, b: Any) -> None:
    def write_sorted(value: Any) -> str:
        return json.dumps(parse(canonical(dump(value))), sort_keys=True)

    assert same(a, b) is (write_sorted(a) == write_sorted(b))
    assert same(a, parse(write_sorted(a)))


# readable


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ('{"a":[1,"\\u0000\\n\\"\\\\",{}]}', None),
        ('{"n":1.10,"m":1e2,"o":-0,"p":12345678901234567890}', None),
        ('{ "a" : "\\u00e9\\/" , "b":"\\":"}', None),
        ('{"a\\"b":1,"a\\\\":2}', None),
        ('{"a":1,"b":2,"a":3.0}', '{"a":3.0,"b":2}'),
        ('{"x": [{"a":1,"\\u0061":2}]}', '{"x":[{"a":2}]}'),
        ('{"\\u0061":1.50}', '{"a":1.50}'),
        ('{"a\\/":"\\/"}', '{"a/":"/"}'),
        ('{"a\\u0000":1}', '{"a\ufffd":1}'),
        ('{"\\\\\\u0061":1}', '{"\\\\a":1}'),
        ('{"a":"\\ud83c","n":12345678901234567890.0}', '{"a":"\ufffd","n":12345678901234567890.0}'),
        ('{"\\ud83c":1,"\\udf31":2}', '{"\ufffd":2}'),
        (nested(READABLE_DEPTH), None),
        (nested(READABLE_DEPTH + 1), DEEP),
        (nested(MAX_DEPTH), DEEP),
        ('["' + "[{" * 2000 + '"]', None),
    ],
)
def test_readable_mends_what_sqlite_reads_in_another_way(text: str, stored: str | None) -> None:
    assert readable(text) == stored
    assert readable(text.encode()) == stored


@given(TEXTS)
def test_a_readable_text_has_the_meaning_of_the_first(text: str) -> None:
    stored = readable(text)
    if stored is None:
        assert text.encode() == text.encode("utf-8", "replace")
        stored = text
    else:
        assert readable(stored) is None
    assert same(json.loads(stored), readable_meaning(parse(text)))


@given(TEXTS)
def test_no_readable_text_has_two_equal_keys_or_half_a_pair(text: str) -> None:
    def take(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(pairs) == len(dict(pairs))
        return dict(pairs)

    stored = json.loads(readable(text) or text, object_pairs_hook=take)
    json.dumps(stored, ensure_ascii=False).encode()


@given(st.lists(TEXTS, min_size=20))
@in_batches
def test_an_old_sqlite_finds_in_a_readable_text_what_is_there(texts: list[str]) -> None:
    stored = [readable(text) or text for text in texts]
    stored = [text for text in stored if "\\u0000" not in text]  # it ends strings there
    for found, text in zip(ask_old_sqlite(stored), stored, strict=True):
        assert same(found, list_nodes(parse(text)))


def test_an_old_sqlite_finds_every_key_by_its_name() -> None:
    stored = [
        readable(text) or text
        for text in (
            '{"\\u0061":1}',
            '{"a":7,"a":1}',
            '{"\\u0061":0,"a":1}',
            '{"\\u0061b":0,"a":1}',
        )
    ]
    command = [find_command("sqlite3"), ":memory:"]
    command += [f"SELECT '{text}' ->> 'a';" for text in stored]
    assert subprocess.run(command, capture_output=True, check=True).stdout.split() == [b"1"] * 4
