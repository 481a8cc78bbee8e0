"""Programs that the tests of this folder run as processes of their own.

`python -m tests.crash.processes NAME ARGUMENT...`; each says on stdout, a line at a time, what is
safe by then.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import dshstore
from dshstore import LiveSession

ROOT = Path(__file__).parents[2]


def start(name: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
    """One of the programs below, running; what it says can be read from its stdout."""
    command = [sys.executable, "-m", "tests.crash.processes", name, *map(str, arguments)]
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def say(text: object) -> None:
    print(text, flush=True)


def write_turns(path: str, session_id: str, seed: str) -> None:
    """Take a session up and write turns until it is killed; say how many events are safe."""
    dice = random.Random(seed)
    with dshstore.open(path) as store:
        known = {summary.session_id for summary in store.sessions()}
        take = store.resume if session_id in known else _create(store)
        session = take(session_id, max_delay=dice.choice([0.0, 0.001, 3600.0]))
        while True:
            with session.turn(), session.step():
                write_step(session, dice)


def _create(store: dshstore.Store):  # type: ignore[no-untyped-def]
    return lambda session_id, max_delay: store.create(session_id=session_id, max_delay=max_delay)


def write_step(session: LiveSession, dice: random.Random) -> None:
    def flush() -> None:
        if dice.random() < 0.5:
            session.flush()
            say(session.next_seq)

    for _ in range(dice.randrange(3)):
        session.user(f"event {session.next_seq}")
        flush()
    ids = [f"c{session.next_seq}-{n}" for n in range(dice.randrange(4))]
    call = {"type": "tool-call", "name": "shell", "arguments": "{}"}
    session.assistant([{**call, "id": id} for id in ids], provider="p", model="m")
    flush()
    for id in ids:
        session.tool_call(id, "shell", "{}")
        flush()
        session.tool_result(id, "x" * dice.choice([1, 100, 100_000]))
        flush()
    if len(session.surface) > 20:
        first, *_, last = session.surface
        session.compact(first, last, "so far", provider="p", model="m")
        flush()


def write_session(path: str, session_id: str, count: str) -> None:
    """Make a session in a store that others may be making just now, and fill it."""
    with dshstore.open(path) as store, store.create(session_id=session_id) as session:
        for number in range(int(count)):
            session.user(f"message {number}")
    say("done")


def forget(path: str, how: str) -> None:
    """Append to a session and end without closing it."""
    store = dshstore.open(path)
    session = store.create(session_id="beans", max_delay=3600.0)
    for number in range(3):
        session.user(f"message {number}")
    if how == "exit":
        sys.exit()
    if how == "exception":
        raise ZeroDivisionError
    if how == "late":  # another exit handler appends too
        import atexit

        atexit.register(lambda: say(session.user("at exit")))
    if how == "cycle":
        session.cycle = session  # type: ignore[attr-defined]


def shrug_off(path: str, count: str) -> None:
    """Append and flush, and go on whenever Ctrl-C comes; say how many events there are at last.

    Another session is written in the background meanwhile.
    """
    import signal

    armed, interrupts = False, 0

    def interrupt(*_: object) -> None:
        nonlocal armed
        if armed:
            armed = False
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    store = dshstore.open(path, durability="NORMAL")
    session, said = store.create(session_id="beans"), 0
    beside = store.create(session_id="peas", max_delay=0.0)
    say("ready")
    while said < int(count) or not interrupts:
        beside.user(str(beside.next_seq))
        try:
            armed = True
            session.user(str(said))
            said += 1
            session.flush()
            armed = False
        except KeyboardInterrupt:
            interrupts += 1
        except dshstore.StoreError as error:
            armed = False
            if "halfway" not in str(error):
                raise
            session.close()
            session = store.resume("beans")
    store.close()
    say(session.next_seq)


def fork_process(path: str) -> None:
    """Fork the process while events are queued: they are the parent's to write."""
    import os

    store = dshstore.open(path)
    session = store.create(session_id="beans", max_delay=3600.0)
    session.user("hello")
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        session.user("and on")
        return
    try:
        session.user("from the child")
    except dshstore.StoreError as error:
        say(error)


def fill_disk(path: str, limit: str) -> None:
    """Write until the file may not grow any more; then let it, and go on."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = dshstore.open(path)
    session = store.create(session_id="beans", max_delay=0.0)
    session.user("before")
    session.flush()
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), hard))
    appended, failures = 0, 0
    while failures < 3:
        try:
            session.user("x" * 200_000)
            appended += 1
            session.flush()
        except dshstore.WriteFailed as error:
            failures += 1
            if failures == 1:
                say(error)
    say(f"{appended} appended, {len(session.pending)} pending")
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    session.flush()
    session.user("after")
    session.close()
    store.close()
    say("closed")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
