"""`dshstore show`, and how a transcript reads."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

import dshstore
from dshstore import TranscriptEntry
from dshstore.cli.transcript import TranscriptWriter
from tests.cli.running import Done, cli
from tests.logs import LogBuilder, make_header, text, write_log
from tests.sql.test_view_answers import ODD, odd_payloads


def lines(done: Done) -> list[str]:
    assert (done.status, done.err) == (0, "")
    return [line for line in done.text.split("\n") if line]


def test_a_transcript_has_turns_roles_calls_and_what_went_wrong(garden: Path) -> None:
    assert lines(cli("show", garden, "seedlings")) == [
        "Seedlings on the south window",
        "seedlings · v4 · /srv/garden · deepseek-reasoner · 32 events · 3431 tokens",
        "──────── turn 1  2026-11-01 08:00:00Z ────────",
        "system (system-prompt)  (event 4)",
        "You look after a small kitchen garden. Measure before you advise, use metric units, and"
        " keep answers short.",
        "user  (event 5)",
        "Please look at the seedlings on the south window. Are they ready for bigger pots?",
        "assistant  (event 9)",
        "(reasoning) Leaf count decides. I need a picture.",
        '→ take_photo {"camera":"south-window"}',
        "← take_photo, 1400 ms",
        "south-window.jpg, 1024x768",
        "(image) image/jpeg south-window.jpg",
        "✗ an attempt failed: error",
        "↻ retry 1 of 3 in 500 ms: the service is overloaded, try again later (SERVER)",
        "assistant  (event 17)",
        "(reasoning) Six of eight have four true leaves.",
        "Six of the eight are ready. Give the other two one more week: 再等一周。",
        "──────── turn 2  2026-11-02 08:00:04Z ────────",
        "user  (event 22)",
        "All six are repotted. Please write that down.",
        "some images are no longer shown to the model from here on",
        "assistant  (event 24)",
        '→ write_note {"line":"Repotted six seedlings; two stay on the south window."}',
        "← write_note, 12 ms",
        "Diary: line 41 written.",
        "assistant  (event 29)",
        "Written down. Enjoy your evening!",
    ]


def test_a_compaction_stands_where_it_happened(garden: Path) -> None:
    shown = lines(cli("show", garden, "bean-bed"))[2:]
    assert shown[0] == (
        "──────── 4 messages (events 2..33) gave way to event 38;"
        " --shadowed shows what was there ────────"
    )
    assert shown[1:3] == ["user (compact)  (event 38)", "What was said so far, in short:"]
    assert shown[4].startswith("──────── turn 2 ")
    shown = lines(cli("show", garden, "bean-bed", "--shadowed"))[2:]
    assert shown[0].startswith("──────── turn 1 ")
    assert shown[1] == "user  (event 2, no longer seen: event 38 stands for it)"
    assert "──────── 4 messages (events 2..33) gave way to event 38 ────────" in shown


def test_a_rewritten_result_points_on(garden: Path) -> None:
    shown = lines(cli("show", garden, "compost"))
    assert "← read_sensor: event 14 stands for its result" in shown
    assert "← read_sensor, 3180 ms, error SENSOR_SILENT" in shown
    at = shown.index("← read_sensor, rewritten (event 9 was longer or other)")
    assert shown[at + 1] == "compost/core, last value: 59 °C"


def test_a_transcript_of_the_past_knows_no_later_compaction(garden: Path) -> None:
    shown = lines(cli("show", garden, "bean-bed", "--at", "33"))
    assert shown[3] == "user  (event 2)"
    assert shown[-1] == "turn 1 is open"
    assert cli("show", garden, "bean-bed", "--at", "99").status == 2


def test_the_last_messages_are_counted_from_the_end(garden: Path) -> None:
    shown = lines(cli("show", garden, "bean-bed", "-n", "1"))
    assert shown[2:] == [
        "assistant  (event 49)",
        "Not yet: tomatoes like it drier. Below 10 % is the time to water them.",
    ]
    assert lines(cli("show", garden, "bean-bed", "-n", "99")) == lines(
        cli("show", garden, "bean-bed")
    )


def test_a_fork_tells_what_it_inherited(garden: Path) -> None:
    shown = lines(cli("show", garden, "seedlings-for"))
    assert shown[1].endswith("child of seedlings")
    assert "──────── what comes before is inherited from the parent ────────" in shown


def test_as_json_every_entry_tells_its_state(garden: Path) -> None:
    done = cli("show", garden, "bean-bed", "--json")
    entries = {entry["seq"]: entry for entry in done.objects}
    assert (entries[2]["state"], entries[2]["shadowed_by"]) == ("shadowed", 38)
    assert entries[38]["replaced"] == {"nodes": 4, "first_seq": 2, "last_seq": 33}
    assert entries[38]["state"] == entries[49]["state"] == "live"
    assert entries[20]["state"] == "log-only"


@pytest.mark.usefixtures("terminal_of_60")
def test_a_terminal_shows_markdown(tmp_path: Path) -> None:
    log = LogBuilder(4)
    log.append("user/message", log.user(text("# Beds\n\n- **one** [bold]\n- two \x1b[31m")))
    with dshstore.open(tmp_path / "store.db") as store:
        store.import_stream(BytesIO(write_log(make_header(4, "a"), log.events)))
    shown = cli("show", tmp_path / "store.db", "a", terminal=True).text
    assert " • one [bold]" in shown
    assert "# Beds" not in shown.partition("(event 0)")[2]
    assert "Beds" in shown
    assert "two \\u001b[31m" in shown


def test_long_things_are_cut_unless_all_is_asked_for(tmp_path: Path) -> None:
    log = LogBuilder(4)
    log.start_turn()
    log.start_step()
    block = {"type": "tool-call", "id": "c", "name": "shell", "arguments": "x" * 500}
    log.settle([({"type": "reasoning", "text": "so " * 200}, ["so "]), (block, ["x"])])
    seq = log.call(block)
    log.append("tool/result", log.result("c", text("\n".join(map(str, range(9))))), [seq])
    with dshstore.open(tmp_path / "store.db") as store:
        store.import_stream(BytesIO(write_log(make_header(4, "a"), log.events)))
    short = lines(cli("show", tmp_path / "store.db", "a"))
    assert max(map(len, short)) < 200
    assert short[-5:-1] == ["0", "1", "2", "… 6 more lines"]
    full = cli("show", tmp_path / "store.db", "a", "--full").text
    assert "x" * 500 in full
    assert "so " * 199 in full
    assert "\n8\n" in full


TYPES = (
    "turn/start turn/end user/message system/message assistant/message tool/call tool/result"
    " assistant/attempt llm/retry session/end-seed image/offload approval/asked approval/decided"
    " compaction/end"
)


@pytest.mark.parametrize("full", [False, True])
def test_no_odd_payload_stops_a_transcript(
    full: bool, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    writer = TranscriptWriter(full=full, shadowed=True)
    for odd in ODD:
        for payload in (*odd_payloads(), {"content": [odd]}, {"message": {"content": [odd]}}):
            for kind in TYPES.split():
                entry = TranscriptEntry(seq=1, type=kind, time=0, data=payload, state="live")
                writer.write(entry)
    writer.finish()


# -- the picture --


def test_a_chart_goes_to_a_file_or_to_stdout(garden: Path, tmp_path: Path) -> None:
    out = tmp_path / "bean-bed.svg"
    assert cli("show", garden, "bean-bed", "--chart", out) == (0, b"", "")
    shown = cli("show", garden, "bean-bed", "--chart", "-")
    assert (shown.status, shown.err) == (0, "")
    assert shown.out == out.read_bytes() + b"\n"
    assert shown.out.startswith(b"<?xml")
    assert b"509 at event 33" in shown.out


def test_a_chart_is_of_the_whole_session(garden: Path, tmp_path: Path) -> None:
    for option in (("--full",), ("--json",), ("--at", "3"), ("-n", "1"), ("--shadowed",)):
        done = cli("show", garden, "bean-bed", "--chart", tmp_path / "x.svg", *option)
        assert (done.status, done.out) == (2, b"")
    assert list(tmp_path.iterdir()) == []


def test_no_chart_is_made_of_a_session_that_is_not_there(garden: Path, tmp_path: Path) -> None:
    assert cli("show", garden, "nobody", "--chart", tmp_path / "x.svg").status == 3
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_of_an_event_that_is_not_there(garden: Path) -> None:
    for option in ([], ["--json"], ["-n", "1"]):
        done = cli("show", garden, "bean-bed", "--at", "999999", *option)
        assert (done.status, done.out) == (2, b"")


def test_a_moment_is_not_headed_by_the_figures_of_the_whole_log(garden: Path) -> None:
    done = cli("show", garden, "bean-bed", "--at", "35")
    assert lines(done)[1] == "bean-bed · v0 · /srv/garden · as of event 35"


def test_a_session_without_a_title_is_headed_by_its_first_words(
    garden: Path, tmp_path: Path
) -> None:
    head = lines(cli("show", garden, "frost-watch"))[:2]
    assert head[0].startswith("Frost is forecast. Close the cold frame")
    assert head[1].startswith("frost-watch · v4")
    (tmp_path / "x.jsonl").write_bytes(write_log(make_header(4, "wordless"), []))
    cli("import", tmp_path / "x.db", tmp_path / "x.jsonl")
    head = lines(cli("show", tmp_path / "x.db", "wordless"))
    assert head[0] == "wordless"
    assert head[1].startswith("v4")
