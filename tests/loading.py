"""Which modules a piece of work loads, in an interpreter of its own."""

from __future__ import annotations

import json
import subprocess
import sys


def loaded_by(code: str, *arguments: str) -> set[str]:
    """The modules that are there when the code has run; `arguments` are its `sys.argv[1:]`."""
    script = f"{code}\nimport json, sys\nprint(json.dumps([*sys.modules]), file=sys.stderr)"
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, check=True)
    return set(json.loads(done.stderr))
