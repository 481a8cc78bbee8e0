"""The process in which something is measured by itself: `python -m bench.alone FUNCTION JSON`."""

from __future__ import annotations

import sys

from bench.clock import answer_alone

if __name__ == "__main__":
    print(answer_alone(*sys.argv[1:]))
