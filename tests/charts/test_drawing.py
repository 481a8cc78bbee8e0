"""Pictures of contexts of all kinds, read back as XML."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from dshstore.charts import (
    Call,
    Compaction,
    Context,
    ToolResult,
    draw_context,
    palette,
    write_picture,
)
from dshstore.errors import WriteFailed

SVG = "{http://www.w3.org/2000/svg}"

SMALL = Context(
    "small",
    4,
    "Beans",
    "trowel-1",
    60,
    calls=(
        Call(9, "message", 20_000, 0, 0),
        Call(20, "message", 2_000, 18_000, 4_000),
        Call(25, "attempt", 9_000, 0, 0),
        Call(30, "compaction", 24_000, 0, 0),
        Call(40, "message", 3_000, 5_000, 0),
    ),
    compactions=(Compaction(15, "prune"), Compaction(31, "summary")),
    tool_results=(ToolResult(12, "shell", 1_500), ToolResult(44, "plan", 20)),
)


def many(count: int) -> Context:
    """A session of five events a request, with a summary at every twentieth request."""
    seqs = range(2, 5 * count, 5)
    return Context(
        "many",
        4,
        "Many",
        None,
        5 * count,
        calls=tuple(
            Call(seq, "message", 500, 1_000 + i % 20 * 5_000 + i * 37 % 911, 0)
            for i, seq in enumerate(seqs)
        ),
        compactions=tuple(Compaction(seq + 2, "summary") for seq in seqs[19::20]),
        tool_results=tuple(
            ToolResult(seq + 1, f"tool {i % 11}", i * 7919 % 100_003) for i, seq in enumerate(seqs)
        ),
    )


def texts(picture: bytes) -> list[str]:
    return [str(text.text) for text in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_a_picture_tells_its_session_its_units_and_its_numbers() -> None:
    shown = texts(draw_context(SMALL))
    assert shown[0] == "0"  # text is text
    for text in (
        "Beans",
        "small · v4 · trowel-1 · 60 events",
        "Context of each request, tokens",
        "Tool results, characters",
        "event of the log (seq)",
        "24k at event 20",
        "\N{MINUS SIGN}16k",
        "fell by 16k at compactions",
        "new input",
        "written to a cache",
        "read from a cache: 44%",
        "summaries: 1",
        "pruned or edited: 1",
        "calls for a summary: 1",
        "failed attempts: 1",
        "shell",
        "1.5k in 1",
        "plan",
    ):
        assert text in shown


def test_the_same_rows_give_the_same_bytes() -> None:
    assert draw_context(SMALL) == draw_context(SMALL)


def test_a_picture_has_a_name_a_description_and_no_ground() -> None:
    picture = draw_context(SMALL)
    root = ElementTree.fromstring(picture)
    assert root[0].text == "Context of session Beans"
    assert str(root[1].text).startswith("60 events, 3 requests")
    assert b"fill: #ffffff" not in picture


def test_every_ink_changes_in_the_dark() -> None:
    for element in ElementTree.fromstring(draw_context(SMALL)).iter():
        inks = [ink for ink in palette.ON_DARK if ink in element.get("style", "")]
        assert all(ink[1:] in element.get("class", "") for ink in inks)
        if element.tag == f"{SVG}text":
            assert inks


def test_a_single_request_is_drawn() -> None:
    one = Context("one", 4, None, None, 10, calls=(Call(9, "message", 412, 0, 0),))
    shown = texts(draw_context(one))
    assert "412 at event 9" in shown
    assert "Tool results, characters" not in shown


@pytest.mark.parametrize(
    "calls",
    [(), (Call(3, "attempt", 50, 0, 0),), (Call(3, "message", 0, 0, 0),)],
    ids=["no usage", "of a failed attempt alone", "of nothing"],
)
def test_a_session_without_usage_says_so_and_shows_its_results(calls: tuple[Call, ...]) -> None:
    context = msgspec.structs.replace(SMALL, calls=calls)
    shown = texts(draw_context(context))
    assert "No request of this session told its usage, so its tokens are not known." in shown
    assert "1.5k in 1" in shown
    assert "summaries: 1" in shown


def test_a_session_without_events_is_a_picture_too() -> None:
    shown = texts(draw_context(Context("s", 4, None, None, 0)))
    assert {"s", "s · v4 · 0 events"} < set(shown)


def test_many_requests_are_thinned_to_the_largest_and_it_says_so() -> None:
    context = many(20_000)
    picture = draw_context(context)
    assert len(picture) < 300_000
    shown = texts(picture)
    peak = max(context.calls, key=lambda call: call.context)
    assert f"{peak.context / 1000:.3g}k at event {peak.seq:,}".replace(".0k", "k") in shown
    [note] = [text for text in shown if "of each of" in text]
    assert "20,000 requests" in note
    assert "20,000 tool results" in note
    assert "6 other tools" in shown


def test_names_of_all_scripts_and_marks_come_out_as_they_are() -> None:
    context = msgspec.structs.replace(
        SMALL,
        title="再等一周 <b>&amp; $x^2$ \x1b[31m" + "很长" * 60,
        tool_results=(
            ToolResult(1, "检索文档", 9),
            ToolResult(2, '<&">', 8),
            ToolResult(3, "$a$", 7),
            ToolResult(4, "\ud83c", 6),
            ToolResult(5, "an_unusually_long_name_of_a_tool", 5),
            ToolResult(6, "检索文档检索文档检索文档", 4),
        ),
    )
    shown = texts(draw_context(context))
    for name in (
        "检索文档",
        '<&">',
        "$a$",
        "\ufffd",
        "an_unusually_long_n…",
        "检索文档检索文档检…",
    ):
        assert name in shown
    [title] = [text for text in shown if text.startswith("再等一周 <b>&amp; $x^2$ \ufffd[31m")]
    assert title.endswith("很长很…") or title.endswith("很长…")


def test_an_inherited_part_is_told() -> None:
    context = msgspec.structs.replace(SMALL, inherited=22)
    assert "from its parent" in texts(draw_context(context))
    assert "from its parent" not in texts(draw_context(SMALL))
    context = msgspec.structs.replace(SMALL, inherited=5)
    assert "from its parent, usage is there" in texts(draw_context(context))


def test_no_number_of_a_log_is_too_large() -> None:
    huge = 2**63 - 1
    context = msgspec.structs.replace(SMALL, calls=(Call(9, "message", huge, huge, huge),))
    assert "27.7E at event 9" in texts(draw_context(context))


def test_a_file_is_replaced_when_the_picture_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "s.svg"
    path.write_text("before")
    write_picture(SMALL, path)
    assert path.read_bytes() == draw_context(SMALL)
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(WriteFailed):
        write_picture(SMALL, tmp_path / "nowhere" / "s.svg")


def test_settings_of_the_process_are_as_they_were() -> None:
    import matplotlib

    def settings() -> dict[str, object]:  # asked for its backend, the library would choose one
        return {key: matplotlib.rcParams[key] for key in matplotlib.rcParams if key != "backend"}

    before = settings()
    draw_context(SMALL)
    assert settings() == before


#: In a process of its own, for what is loaded there.
LAZY = """
import sys
import dshstore
assert not any(name.split(".")[0] in ("matplotlib", "numpy", "rich") for name in sys.modules)
from dshstore.charts import Context, draw_context
draw_context(Context("s", 4, None, None, 3))
assert "matplotlib.pyplot" not in sys.modules
"""


def test_the_library_that_draws_is_loaded_when_it_is_needed() -> None:
    subprocess.run([sys.executable, "-c", LAZY], check=True)


ABSENT = """
import sys
sys.modules["matplotlib"] = None
from dshstore.cli.process import run
sys.exit(run(sys.argv[1:]))
"""


def test_without_the_library_it_says_what_to_install(tmp_path: Path) -> None:
    import dshstore

    path = tmp_path / "s.db"
    with dshstore.open(path) as store:
        store.create(session_id="s").close()
    arguments = ["show", str(path), "s", "--chart", str(tmp_path / "s.svg")]
    done = subprocess.run(
        [sys.executable, "-c", ABSENT, *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "dshstore: pictures are drawn by matplotlib, which is not installed: "
        "pip install 'dshstore[charts]'\n"
    )
    assert not (tmp_path / "s.svg").exists()


def test_a_long_id_leaves_the_format_and_the_model_in_sight() -> None:
    context = msgspec.structs.replace(SMALL, session_id="a-long-id-" * 20)
    [facts] = [text for text in texts(draw_context(context)) if text.startswith("a-long-id-")]
    assert facts.endswith("… · v4 · trowel-1 · 60 events")
    assert len(facts) < 110


@pytest.mark.parametrize("words", ["word " * 400_000, "再" * 400_000])
def test_a_whole_message_is_no_name_of_a_picture(words: str) -> None:
    drawn = draw_context(msgspec.structs.replace(SMALL, title=words))
    root = ElementTree.fromstring(drawn)
    title = root.findtext(f"{SVG}title")
    assert title == root.get("aria-label")
    assert title is not None
    assert title.endswith("…")
    assert len(title) < 200
