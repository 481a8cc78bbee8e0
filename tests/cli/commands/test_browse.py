"""`dshstore browse`."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import dshstore
from tests.cli.running import cli, program
from tests.plugins.serving import PATIENCE, browse


def test_it_serves_the_sessions_until_ctrl_c(own_garden: Path) -> None:
    with browse(own_garden) as site:
        page = site.get("/")
        assert page.url == f"{site.url}/garden/-/sessions"
        assert "Watering the runner beans" in page.text
        site.process.send_signal(signal.SIGINT)
        assert site.process.wait(PATIENCE) == 0
    assert [file.name for file in own_garden.parent.iterdir()] == ["garden.db"]


def test_ctrl_c_is_heard_as_soon_as_the_address_is_there(own_garden: Path) -> None:
    with browse(own_garden) as site:
        site.process.send_signal(signal.SIGINT)
        assert site.process.wait(PATIENCE) == 0
    assert [file.name for file in own_garden.parent.iterdir()] == ["garden.db"]


def test_what_lies_in_the_folder_is_not_run(own_garden: Path, tmp_path: Path) -> None:
    (tmp_path / "uvicorn.py").write_text("raise SystemExit('taken')")
    with browse(own_garden, cwd=tmp_path) as site:
        assert site.get("/").status == 200


def test_it_shows_what_is_written_meanwhile_and_cannot_write(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    with dshstore.open(path) as store:
        session = store.create(session_id="live", cwd="/")
        session.user("first")
        session.flush()
        with browse(path) as site:
            assert "first" in site.get("/live/-/session/live").text
            session.user("second")
            session.flush()
            assert "second" in site.get("/live/-/session/live").text
            refused = site.get("/live?sql=DELETE+FROM+events")
            assert refused.status == 400
        assert len(session.surface) == 2


@pytest.mark.parametrize("name", ["50% o#f?x.db", "日本 &.db", "a.b.db"])
def test_a_store_has_any_name(garden: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(garden.read_bytes())
    with browse(path) as site:
        assert "Watering the runner beans" in site.get("/").text


def test_a_store_that_cannot_be_written_is_shown(own_garden: Path) -> None:
    own_garden.chmod(0o400)
    own_garden.parent.chmod(0o500)
    try:
        with browse(own_garden) as site:
            assert "Watering the runner beans" in site.get("/").text
    finally:
        own_garden.parent.chmod(0o700)


def test_it_answers_to_no_name_but_this_machine_s(garden: Path) -> None:
    with browse(garden) as site:
        assert site.get("/", Host="evil.example").status == 403
        assert site.get("/", Host="localhost:1").status == 200


def test_it_listens_on_this_machine_alone(garden: Path) -> None:
    with browse(garden) as site:
        assert site.url.startswith("http://127.0.0.1:")


def test_a_port_that_is_taken_is_named(garden: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = program("browse", garden, "--port", str(port))
    assert (done.status, done.out) == (1, b"")
    assert done.err.startswith(f"Error: port {port} cannot be had")


def test_what_is_no_store_is_said_before_anything_is_served(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database at all, but some text\n" * 40)
    done = cli("browse", tmp_path / "text.db")
    assert (done.status, done.out) == (3, b"")
    assert "not an SQLite file" in done.err
    assert cli("browse", tmp_path / "none.db").status == 3


def test_without_datasette_it_says_how_to_get_it(garden: Path) -> None:
    """In a process in which Datasette cannot be found, as where the extra is not installed."""
    without = (
        "import sys\n"
        "sys.modules['datasette'] = None\n"
        "from dshstore.cli.process import run\n"
        f"sys.exit(run(['browse', {str(garden)!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", without], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "pip install 'dshstore[browse]'" in done.stderr
