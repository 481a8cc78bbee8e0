"""Sessions with something written in them, for the tests of searches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dshstore
from dshstore import SearchFilters, Store
from tests.logs import LogBuilder, make_header, text, write_log


def log_of(session_id: str, *said: str, version: int = 4, **header: Any) -> bytes:
    """A log in which a user said this, each as a message."""
    log = LogBuilder(version)
    log.start_turn()
    log.start_step()
    for words in said:
        log.append("user/message", log.user(text(words)))
    log.end_step()
    log.end_turn()
    return write_log(make_header(version, session_id, **header), log.events)


def take_in(store: Store, log: bytes, path: Path) -> None:
    path.write_bytes(log)
    store.import_log(path)


def found(store: Store, query: str, **options: Any) -> list[tuple[str, int]]:
    """Where something is found: session ids and seqs, in this order."""
    names = set(SearchFilters.__struct_fields__)
    filters = SearchFilters(**{name: options.pop(name) for name in names & options.keys()})
    hits = store.search(query, filters, limit=options.pop("limit", 1000), **options)
    return sorted((hit.session_id, hit.seq) for hit in hits)


def new_store(path: Path, *said: str) -> Path:
    """A store with a session `a` in which a user said this."""
    with dshstore.open(path, durability="NORMAL") as store:
        take_in(store, log_of("a", *said), path.with_suffix(".jsonl"))
    return path
