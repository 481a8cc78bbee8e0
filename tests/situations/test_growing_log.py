"""A log is imported while its harness still writes it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import dshstore
from dshstore import Store
from dshstore.formats.dsh import frames
from tests.cli.running import cli
from tests.logs import turns
from tests.situations.conftest import check_sound, write_session


def test_the_unfinished_line_is_left_for_the_next_run_without_an_error(
    tmp_path: Path, logs: Path
) -> None:
    store, log, whole = tmp_path / "store.db", logs / "beans.jsonl", write_session("beans", 3)
    known = 0
    for size in range(whole.index(b"\n") + 1, len(whole) + 1, 97):
        log.write_bytes(whole[:size])
        done = cli("import", store, log, "--json")
        [result] = done.objects
        assert done.status == 0
        assert result["events"] == known + result["added"] == whole[:size].count(b"\n") - 1
        known = result["events"]
    log.write_bytes(whole)
    assert cli("import", store, log).status == 0
    assert cli("export", store, "beans").out == whole


@pytest.mark.shared
def test_the_case_of_many_frames_is_imported_frame_by_frame(store: Store, cases: Path) -> None:
    case = cases / "case-09-many-frames.jsonl.zst"
    whole = case.read_bytes()
    ends = [at for at in range(1, len(whole)) if whole.startswith(b"\x28\xb5\x2f\xfd", at)]
    log = cases / "growing.jsonl.zst"
    known = 0
    for end in [*ends, len(whole)]:
        log.write_bytes(whole[:end])
        result = store.import_log(log)
        assert result.events == known + result.added
        known = result.events
    assert known == 24
    assert store.import_log(case).outcome == "unchanged"
    check_sound(store)


def test_two_processes_that_import_one_log_at_once_do_not_hinder_each_other(
    tmp_path: Path, logs: Path
) -> None:
    store, log = tmp_path / "store.db", logs / "beans.jsonl.zstd"
    lines = write_session("beans", 500).split(b"\n")[:-1]
    dshstore.open(store).close()
    for count, first in ((1500, "imported"), (len(lines), "extended")):
        log.write_bytes(b"".join(frames.frame(line + b"\n") for line in lines[:count]))
        command = [sys.executable, "-m", "dshstore", "import", str(store), str(log), "--json"]
        processes = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(4)
        ]
        done = [(*process.communicate(timeout=60), process.returncode) for process in processes]
        assert [status for *_, status in done] == [0] * 4, done
        outcomes = sorted(out.split('"outcome":"')[1].split('"')[0] for out, *_ in done)
        assert outcomes == sorted([first, "unchanged", "unchanged", "unchanged"])
    with dshstore.open(store) as opened:
        assert opened.session("beans").next_seq == len(turns(500))
        check_sound(opened)
