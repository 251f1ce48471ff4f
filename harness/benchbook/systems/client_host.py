"""Where clients are started: on this machine, or on the machines that a trial was given for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from benchbook.cluster.remote import Machines

_MACHINES: ContextVar[Machines | None] = ContextVar("machines", default=None)


def current() -> Machines | None:
    """Return the machines that clients are started on; None: on this one."""
    return _MACHINES.get()


@contextmanager
def on(machines: Machines | None) -> Iterator[None]:
    """Start clients on other machines from now on, in this thread."""
    token = _MACHINES.set(machines)
    try:
        yield
    finally:
        _MACHINES.reset(token)
