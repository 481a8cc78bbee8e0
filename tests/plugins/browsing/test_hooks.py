"""What Datasette's own pages show of a store: `plugins/browsing/hooks.py` and what it calls."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlencode

import pytest

import dshstore
from dshstore.plugins.browsing.descriptions import COLUMNS, MEANINGS, questions
from tests.plugins.serving import Site, datasette


def rows(site: Site, query: str, **parameters: str) -> list[dict[str, object]]:
    page = site.get(f"/garden/{query}.json?{urlencode({'_shape': 'array', **parameters})}")
    assert page.status == 200, page.text
    found: list[dict[str, object]] = json.loads(page.text)
    return found


def test_every_table_and_view_is_described_and_no_other(garden: Path) -> None:
    found = """
        SELECT t.name, c.name
          FROM sqlite_schema AS t
          JOIN pragma_table_xinfo(t.name) AS c
         WHERE t.type IN ('table', 'view')
    """
    with dshstore.open(garden, mode="read") as store:
        pairs = list(store.sql(found)[1])
    names, columns = {table for table, _ in pairs}, {column for _, column in pairs}
    assert set(MEANINGS) == names - {"sqlite_sequence"}
    assert set(COLUMNS) <= columns


def test_a_view_tells_what_it_and_its_columns_mean(site: Site) -> None:
    page = site.get("/garden/tool_calls")
    assert MEANINGS["tool_calls"] in page.text
    assert COLUMNS["duration"] in page.text
    assert "facet-results" in page.text


@pytest.mark.parametrize("name", sorted(questions()))
def test_every_question_has_an_answer(site: Site, name: str) -> None:
    parameters = {"session_id": "bean-bed", "seq": "35", "text": "sensor"}
    asked = {
        key: value for key, value in parameters.items() if f":{key}" in questions()[name]["sql"]
    }
    assert rows(site, name, **asked)
    page = site.get(f"/garden/{name}?{urlencode(asked)}")
    assert questions()[name]["title"] in page.text
    assert page.status == 200


def test_what_the_model_saw_is_what_dshstore_says(site: Site, garden: Path) -> None:
    found = rows(site, "what_the_model_saw", session_id="bean-bed", seq="35")
    with dshstore.open(garden, mode="read") as store:
        expected = store.session("bean-bed").messages(35)
    assert [json.loads(str(row["message"])) for row in found] == expected


def test_cells_are_to_read(site: Site) -> None:
    page = site.get("/garden/event_log?session_id=bean-bed&_size=max").text
    assert '<time datetime="2026-08-01T08:00:00' in page
    assert 'href="/garden/-/session/bean-bed?format=0&amp;event=38#e38"' in page
    assert "<details><summary>" in page
    assert "180 ms" in site.get("/garden/tool_calls").text


def test_a_value_that_is_not_what_its_column_says_is_left_alone(site: Site) -> None:
    sql = (
        "SELECT 'soon' AS time, 9223372036854775807 AS created_at, 'not json' AS data,"
        " 5 AS message, '[1' AS arguments, 7 AS session_id, NULL AS seq, x'00' AS text"
    )
    page = site.get(f"/garden?{urlencode({'sql': sql})}")
    assert page.status == 200
    for text in ("soon", "9223372036854775807", "not json", "[1"):
        assert text in page.text


def test_rows_of_tables_show_too(site: Site) -> None:
    assert site.get("/garden/events").status == 200
    assert site.get("/garden/events/1,2").status == 200
    assert site.get("/garden/sessions/1").status == 200
    assert site.get("/garden/streams").status == 200


def test_no_other_database_is_touched(site: Site) -> None:
    page = site.get("/_memory")
    assert "dshstore.css" not in page.text
    assert "sessions_at_a_glance" not in page.text
    failed = site.get(f"/_memory?{urlencode({'sql': 'SELECT dsh_messages(1)'})}")
    assert "no such function: dsh_messages" in failed.text
    shown = site.get(f"/_memory?{urlencode({'sql': 'SELECT 1700000000000 AS time'})}")
    assert "<time" not in shown.text


def test_a_user_s_own_words_come_first(garden: Path, tmp_path: Path) -> None:
    about = {"databases": {"garden": {"tables": {"usage": {"description": "What it cost us"}}}}}
    (tmp_path / "about.json").write_text(json.dumps(about))
    with datasette(garden, options=("--metadata", str(tmp_path / "about.json"))) as site:
        page = site.get("/garden/usage")
        assert "What it cost us" in page.text
        assert COLUMNS["input_tokens"] in page.text


def test_a_base_url_is_kept_to(garden: Path) -> None:
    with datasette(garden, options=("--setting", "base_url", "/logs/")) as site:
        page = site.get("/logs/garden/-/sessions")
        assert page.status == 200
        assert 'href="/logs/garden/-/session/bean-bed"' in page.text
        assert "/logs/-/static-plugins/dshstore/dshstore.css" in page.text
        assert site.get("/logs/-/static-plugins/dshstore/dshstore.css").status == 200


def test_what_is_written_meanwhile_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    with dshstore.open(path) as store:
        session = store.create(session_id="live", cwd="/")
        session.user("first")
        session.flush()
        with datasette(path) as site:
            assert "second" not in site.get("/live/-/session/live").text
            session.user("second")
            session.flush()
            assert "second" in site.get("/live/-/session/live").text
