"""`dshstore verify`."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import copyfile

from tests.cli.running import cli, small_log
from tests.real_parts import require


def damage(store: Path) -> None:
    """Give an import another count of lines, which no trigger guards."""
    script = "UPDATE imports SET lines = 99 WHERE events = 5"
    subprocess.run([require("sqlite3"), str(store), script], check=True)


def make_store(folder: Path, log: bytes) -> Path:
    (folder / "a.jsonl").write_bytes(log)
    store = folder / "store.db"
    assert cli("import", store, folder / "a.jsonl").status == 0
    return store


def test_faults_of_a_log_are_told_and_do_not_count(garden: Path) -> None:
    done = cli("verify", garden, "frost-watch", "--json")
    assert (done.status, done.err) == (0, "")
    assert [(found["seq"], found["code"]) for found in done.objects] == [
        (0, "open-turn"),
        (6, "call-open"),
        (6, "call-open"),
    ]
    assert done.objects[0] == {
        "session_id": "frost-watch",
        "seq": 0,
        "code": "open-turn",
        "kind": "log",
        "detail": "turn 1 has no end",
    }


def test_strict_counts_them(garden: Path) -> None:
    assert cli("verify", garden, "--strict").status == 1
    assert cli("verify", garden, "seedlings", "--strict").status == 0


def test_damage_counts(tmp_path: Path) -> None:
    store = make_store(tmp_path, small_log("a"))
    damage(store)
    done = cli("verify", store, "--json")
    assert done.status == 1
    assert [(found["code"], found["kind"]) for found in done.objects] == [
        ("import-mismatch", "store")
    ]


def test_people_read_a_line_for_each_and_a_sum(garden: Path, tmp_path: Path) -> None:
    done = cli("verify", garden, "frost-watch")
    assert done.text.split("\n")[0] == "log  open-turn  frost-watch, event 0: turn 1 has no end"
    assert done.err == "dshstore: no damage; 3 faults of the logs themselves\n"
    store = make_store(tmp_path, small_log("a"))
    assert cli("verify", store).err == "dshstore: no damage; no faults of the logs themselves\n"
    damage(store)
    found = cli("verify", store)
    assert found.text == "store  import-mismatch  a: import 1: it counted 99 lines, here are 6\n"
    assert found.err.startswith("dshstore: 1 finding of damage; ")


def test_a_session_that_is_not_there_is_status_3(garden: Path) -> None:
    assert cli("verify", garden, "nettles").status == 3


def test_control_characters_of_a_log_do_not_reach_the_terminal(tmp_path: Path) -> None:
    event = b'{"type":"\\u001b[2J","seq":5,"time":1,"data":{}}\n'
    done = cli("verify", make_store(tmp_path, small_log("a") + event))
    assert "\\x1b[2J" in done.text or "\\u001b[2J" in done.text
    assert b"\x1b" not in done.out


def test_the_store_is_left_as_it_is(garden: Path, tmp_path: Path) -> None:
    store = tmp_path / "copy.db"
    copyfile(garden, store)
    before = store.read_bytes()
    cli("verify", store)
    assert store.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db"]


def test_an_open_call_tells_where_it_was_announced_and_where_it_was_started(garden: Path) -> None:
    told = cli("verify", garden, "frost-watch").text
    assert "event 6: call 'call_frame', started at event 7, has no result" in told
    assert "event 6: call 'call_fleece', announced here and never started, has no result" in told
