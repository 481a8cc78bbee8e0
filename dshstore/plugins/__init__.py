"""dshstore inside other programs: what sqlite-utils and Datasette load when it is installed.

Those hold a store with the SQLite library of Python, so nothing here opens a file with dshstore:
all is read through the connection that is handed over.
"""
