"""How long commands take to begin, beside the imports that they cannot do without."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from compileall import compile_dir
from pathlib import Path

import dshstore
from bench.clock import run_command, take_turns
from bench.report import Demand, Row, compare_spans
from bench.settings import Setting

_IMPORTS = "import apsw, msgspec, click"


def compare(setting: Setting) -> Iterator[Row]:
    store = setting.fresh()
    log = setting.log("settled", 300)
    with dshstore.open(store) as opened:
        opened.import_log(log.path)
    for package in dshstore.__path__:
        compile_dir(package, quiet=2)  # as who installs packages leaves those that stand beside
    program = Path(sys.executable).with_name("dshstore")
    spans = take_turns(
        {
            "--help": lambda: run_command([program, "--help"]),
            "imports": lambda: run_command([sys.executable, "-c", _IMPORTS]),
            "sessions": lambda: run_command([program, "sessions", store]),
        },
        setting.mode.rounds * 2 - 1,
    )
    for name in ("--help", "sessions"):
        yield compare_spans(
            "start",
            f"dshstore {name}",
            ("command", spans[name], "imports", spans["imports"]),
            Demand(2.0),
        )
