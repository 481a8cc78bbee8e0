"""`python -m dshstore` and the console script: the command line."""

import sys

from dshstore.cli.process import main

if __name__ == "__main__":
    sys.exit(main())
