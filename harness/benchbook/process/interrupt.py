"""Signals that interrupt the harness: Ctrl-C, SIGTERM and SIGHUP."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for SIGTERM and SIGHUP in the ``with`` block: servers stop, finished trials stay.

    A signal that the process ignores stays ignored: ``nohup`` ignores SIGHUP so that a run outlives its terminal.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    heard = [number for number, handler in before.items() if handler != signal.SIG_IGN]
    for number in heard:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[None]:
    """Hold back interruptions in the ``with`` block; the first one takes effect at its end.

    Python runs functions of its own around a fork and drops an exception in them, so a Ctrl-C at that time would be
    lost. Only the main thread is interrupted, so other threads hold back nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if callable(handler := signal.getsignal(number))
    }
    for number in before:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            before[signal.Signals(came[0])](came[0], None)
