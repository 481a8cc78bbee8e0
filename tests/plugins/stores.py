"""Stores for the plugins: the garden of the sample logs, and sessions that are odd in one way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dshstore
from tests.logs import LogBuilder, make_header, text, write_log
from tests.stores import take_samples

#: Ids that an address must spell; each is a session of the odd store.
ODD_IDS = ("a/b c", "100%", "x?y=1&z#w", "日本 🌱", "-dash", "id@v4", "..", "~tilde~", "<i>id</i>")

#: What a message must never become on a page.
SCRIPT = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"

#: Turns of the long session: enough for several parts of a page.
LONG = 700


def write_garden(path: Path) -> Path:
    with dshstore.open(path) as store:
        take_samples(store)
        store.fork("seedlings", new_id="branched")
    return path


def write_odd(path: Path) -> Path:
    with dshstore.open(path) as store:
        for name, log in _odd_logs():
            file = path.with_name("log.jsonl")
            file.write_bytes(log)
            assert store.import_log(file).outcome == "imported", name
    return path


def _odd_logs() -> list[tuple[str, bytes]]:
    logs = [(name, _said(name, "Hello")) for name in ODD_IDS]
    logs.append(("script", _said("script", SCRIPT, f"**bold** {SCRIPT} [a](javascript:alert(1))")))
    logs.append(("image", _said("image", "![pixel](http://192.0.2.1/pixel.png)")))
    logs.append(("half", _said("half", "half a pair: \ud83c, NUL: \x00, bell: \x07")))
    logs.append(("long", _long("long")))
    logs.append(("compacted", _compacted("compacted")))
    logs.append(("compacted-in-a-turn", _compacted_in_a_turn("compacted-in-a-turn")))
    logs.append(("unknown", _with_unknown("unknown")))
    logs.append(("header-only", write_log(make_header(4, "header-only"), [])))
    logs.append(("shapes", _shapes("shapes")))
    logs.append(("legacy", _legacy("legacy")))
    return logs


def _said(session_id: str, *words: str) -> bytes:
    log = LogBuilder(4)
    log.start_turn()
    log.start_step()
    for word in words:
        log.append("user/message", log.user(text(word)))
        log.append("assistant/message", log.assistant(text(word)) | {"stream": []})
    log.end_step()
    log.end_turn()
    return write_log(make_header(4, session_id), log.events)


def _long(session_id: str) -> bytes:
    log = LogBuilder(4)
    for number in range(LONG):
        log.exchange(f"question {number}", f"answer {number}", stream=[])
    return write_log(make_header(4, session_id), log.events)


def _compacted(session_id: str) -> bytes:
    """Compacted twice: the second summary takes the place of the first too."""
    log = LogBuilder(4)
    for number in range(3):
        log.exchange(f"secret {number}", f"reply {number}", stream=[])
        if number < 2:
            source = {"kind": "plugin", "plugin": "compact"}
            summary = log.user(text(f"summary {number}"), source=source)
            log.replace("user/message", summary, 0, len(log.nodes) - 1)
    return write_log(make_header(4, session_id), log.events)


def _compacted_in_a_turn(session_id: str) -> bytes:
    """What a turn began with is compacted before the turn goes on."""
    log = LogBuilder(4)
    log.start_turn()
    log.start_step()
    log.append("user/message", log.user(text("secret")))
    log.append("assistant/message", log.assistant(text("hidden reply")) | {"stream": []})
    log.end_step()
    summary = log.user(text("summary"), source={"kind": "plugin", "plugin": "compact"})
    log.replace("user/message", summary, 0, len(log.nodes) - 1)
    log.start_step()
    log.append("assistant/message", log.assistant(text("shown reply")) | {"stream": []})
    log.end_step()
    log.end_turn()
    return write_log(make_header(4, session_id), log.events)


def _with_unknown(session_id: str) -> bytes:
    log = LogBuilder(4)
    log.start_turn()
    log.start_step()
    log.append("user/message", log.user(text("before the unknown")))
    log.add("garden/gnome", {"hat": "red"})
    log.end_step()
    log.end_turn()
    return write_log(make_header(4, session_id), log.events)


def _shapes(session_id: str) -> bytes:
    """Content that is none of what a harness writes."""
    log = LogBuilder(4)
    log.start_turn()
    log.start_step()
    contents: list[Any] = [
        [{"type": "hologram", "depth": 3}],
        [text("# Heading\n\n| a | b |\n|---|---|\n| 1 | `2` |\n\n```\ncode\n```")],
        [text("word " * 9_000)],
        [7, None, "plain", {"type": "text", "text": 5}],
    ]
    for content in contents:
        log.append("user/message", log.user(*content))
    log.add("tool/call", {**log.place, "callId": "c", "name": "shell", "arguments": '{"a":[1,{'})
    log.append("tool/result", log.result("c", text("line\n" * 40)))
    log.end_step()
    log.end_turn()
    return write_log(make_header(4, session_id), log.events)


def _legacy(session_id: str) -> bytes:
    """A v0 log of the oldest shapes: a user message that is content alone, without an id."""
    said = {"content": [text("an old question")], "source": {"kind": "user"}}
    events = [
        {"type": "turn/start", "seq": 0, "time": 1, "data": {"turn": 1}},
        {"type": "user/message", "seq": 1, "time": 2, "data": said, "surfaceOp": "append"},
    ]
    return write_log(make_header(0, session_id), events)
