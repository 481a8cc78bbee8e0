"""Other libraries that keep what agents say in SQLite, doing the same work in the same run.

Each is used as its documentation says, through its public API, in a process of its own. A module
here has one class per way to use one library; `driving` has what they have to do.
"""
