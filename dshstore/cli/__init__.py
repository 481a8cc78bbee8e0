"""The command line: words in and out, upon the public names of the package alone.

One module of `commands` is one command, `group` knows their names, `process` is the program
around them (streams, errors, statuses).
"""

from dshstore.cli.group import root

__all__ = ["root"]
