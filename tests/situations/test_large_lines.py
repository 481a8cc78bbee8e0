"""Lines of many MB: whole, and in bounded memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import program
from tests.logs import LogBuilder, make_header, text, write_log
from tests.situations.conftest import write_session

LINE = 32 << 20

#: Memory that a process takes before it reads anything, with room to spare.
IDLE = 64 << 20

#: Prints the most memory that the command took.
PROGRAM = """
import sys
from dshstore.cli.process import run
run(sys.argv[1:])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(peak.split()[1], file=sys.stderr)
"""

TEXTS = {
    "plain": "short",
    "an emoji": "🌱",
    "half a pair": "\ud83c",
}


def memory_of(*arguments: str | Path) -> int:
    """Run a command in a process of its own; the most bytes that it had in memory."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True
    )
    return int(done.stderr.split()[-1]) * 1024


@pytest.mark.parametrize("name", TEXTS)
def test_a_line_takes_ten_times_its_size_at_most(tmp_path: Path, logs: Path, name: str) -> None:
    log, store = logs / "beans.jsonl", tmp_path / "store.db"
    large = LogBuilder(4)
    large.append("user/message", large.user(text("Scan it.")))
    large.append("tool/result", large.result("c1", text(TEXTS[name]), text("A" * LINE)))
    whole = write_log(make_header(4, "beans"), large.events)
    log.write_bytes(whole)
    assert memory_of("import", store, log, "--json") < IDLE + 10 * LINE
    assert memory_of("sessions", store) < IDLE
    assert memory_of("info", store) < IDLE
    exported = tmp_path / "exported.jsonl"
    memory_of("export", store, "beans", "-o", exported)
    assert exported.read_bytes() == whole


def test_a_line_over_the_limit_is_refused_with_the_option_that_raises_it(
    tmp_path: Path, logs: Path
) -> None:
    log, store = logs / "beans.jsonl", tmp_path / "store.db"
    log.write_bytes(write_session("beans").replace(b"hello 0", b"A" * (2 << 20)))
    refused = program("import", store, log, "--json", "--max-line", "1M")
    assert refused.status == 1
    [result] = refused.objects
    assert result["line"] == 4
    assert "--max-line" in result["reason"]
    assert program("import", store, log, "--max-line", "3M").status == 0
