"""Make SIGTERM and SIGHUP end a run like Ctrl-C: servers stop, finished trials stay.

A signal that the process already ignores stays ignored: ``nohup`` ignores SIGHUP so that a run outlives its terminal.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for SIGTERM and SIGHUP inside the ``with`` block."""
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
