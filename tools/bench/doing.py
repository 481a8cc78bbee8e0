"""What a store does in a process of its own, for comparisons that want one."""

from __future__ import annotations

import hashlib
import tempfile
from typing import Any

import dshstore
from bench.clock import Clock
from bench.logs import SESSION


def import_log(clock: Clock, log: str, store: str) -> int:
    """Import one log into an empty store; the number of events."""
    _load()
    dshstore.open(store).close()
    with clock(), dshstore.open(store) as opened:
        result = opened.import_log(log)
    return result.events


def export_log(clock: Clock, store: str, path: str) -> str:
    """Export the log; its SHA-256."""
    _load()
    with clock(), dshstore.open(store, "read") as opened:
        opened.export_log(SESSION, path)
    with open(path, "rb") as file:  # noqa: PTH123
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_and_derive(clock: Clock, store: str, at: int | None = None) -> Any:
    """Open a store and read what the model sees; the surface and the number of messages."""
    _load()
    with clock(), dshstore.open(store, "read") as opened:
        messages = list(opened.session(SESSION).messages_json(at))
    with dshstore.open(store, "read") as opened:
        session = opened.session(SESSION)
        return [session.surface if at is None else session.surface_at(at), len(messages)]


def _load() -> None:
    """Do all of it once in a small store: what is imported when it is first needed is not timed."""
    with tempfile.TemporaryDirectory() as folder:
        with dshstore.open(f"{folder}/one.db") as store:
            store.create(session_id=SESSION).close()
            store.export_log(SESSION, f"{folder}/log.jsonl")
        with dshstore.open(f"{folder}/other.db") as store:
            store.import_log(f"{folder}/log.jsonl")
            list(store.session(SESSION).messages_json())
