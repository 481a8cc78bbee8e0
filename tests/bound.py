"""Runs the command as someone whom the rights of a folder bind, as they do not bind root."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.real_parts import require


def run_bound(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `dshstore` with these arguments, without root's right to pass over modes."""
    bound: list[str | Path] = []
    if os.geteuid() == 0:
        bound = [require("setpriv"), "--bounding-set", "-dac_override,-dac_read_search"]
    return subprocess.run(
        [*bound, sys.executable, "-m", "dshstore", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
