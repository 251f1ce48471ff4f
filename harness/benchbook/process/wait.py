"""Wait until a condition holds or a call returns, up to a limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], object], seconds: float, *, pause: float = 0.05) -> bool:
    """Return whether ``condition`` became true within ``seconds``.

    The condition is checked at least once, then every ``pause`` seconds. It may raise to end the wait.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
    return True


def until_unchanged(
    read: Callable[[], object], rest_seconds: float, seconds: float, *, pause: float = 0.1
) -> bool:
    """Return whether ``read`` returned the same value for ``rest_seconds`` without a break, within ``seconds``."""
    value, since = read(), time.monotonic()

    def rested() -> bool:
        nonlocal value, since
        if (now := read()) != value:
            value, since = now, time.monotonic()
        return time.monotonic() - since >= rest_seconds

    return until(rested, seconds, pause=pause)


def within(seconds: float, call: Callable[[], T], give_up: Callable[[], object] = lambda: None) -> T:
    """Return the result of a library's call; raise TimeoutError if it takes longer than ``seconds``.

    Libraries limit each read from a server, so one that sends a byte from time to time would hold them for ever. The
    call runs in a thread of its own, which stays behind until the connection ends; ``give_up`` should close it. The
    call must start no process, because the kernel would end that with the thread.
    """
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(call())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="within", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not found:
        give_up()
        raise TimeoutError(f"no complete answer within {seconds:g} s")
    return found[0]


@contextmanager
def limited(seconds: float, end: Callable[[], object]) -> Iterator[threading.Event]:
    """Call ``end`` in another thread if the ``with`` block takes longer than ``seconds``; yield whether it did."""
    over = threading.Event()

    def expire() -> None:
        over.set()
        end()

    timer = threading.Timer(max(0.0, seconds), expire)
    timer.daemon = True
    timer.start()
    try:
        yield over
    finally:
        timer.cancel()
        timer.join()
