"""Watch a trial: wait until it is ready, and end it when it hangs, its storage dies or its disk is full."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.measure.usage import read
from benchbook.process.spawn import tree
from benchbook.process.wait import until
from benchbook.storage.driver import Storage
from benchbook.systems.driver import Client, Driver

# Ends a trial in which nothing moves any more: a server or client that was stopped, or waits for ever.
#
# Clients have timeouts of their own for each operation. What they cannot see, an embedded engine that hangs or a
# load tool that does, shows in this: none of the processes that the harness started uses any processor time.

HANG_SECONDS = 300.0
"""How long nothing may move. Databases and Go programs have background work each second."""
HANG_VARIABLE = "BENCHBOOK_HANG_SECONDS"
"""Environment variable that replaces it."""
MOVED_SECONDS = 0.02
"""Processor time in that length which is a sign of life."""


class Hang:
    """Watches the harness's processes for the length of a ``with`` block, from a thread of its own."""

    def __init__(self, processes: Callable[[], list[int]], seconds: float | None = None) -> None:
        """Take what names those to kill when nothing moves: the trial's server and client."""
        self.seconds = seconds or float(os.environ.get(HANG_VARIABLE) or HANG_SECONDS)
        self.found = False
        self._processes = processes
        self._end = threading.Event()

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Watch until the block ends."""
        thread = threading.Thread(target=self._watch, name="hang", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._end.set()
            thread.join()

    def words(self) -> str:
        """Say that it hung, to be added to what failed because of it; empty where it did not."""
        return f" Nothing had moved for {self.seconds:g} s: it hung, and was ended." if self.found else ""

    def _watch(self) -> None:
        quiet, before = 0.0, _used()
        step = self.seconds / 10
        while not self._end.wait(step):
            now = _used()
            if before is None or now is None or abs(now - before) > MOVED_SECONDS:
                quiet, before = 0.0, now
                continue
            quiet += step
            if quiet >= self.seconds:
                self.found = True
                for pid in self._processes():
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
                quiet = 0.0


def _used() -> float | None:
    """Return the processor time of all that this process started; None where nothing runs."""
    found = [one for pid in tree(os.getpid())[1:] if (one := read(pid)) is not None]
    if not found:
        return None
    return sum(one.usage.user + one.usage.system + one.reaped.user + one.reaped.system for one in found)


# Ends a trial whose storage died under it: a bucket's server or the program that mounts it.
#
# Clients try again for minutes what a dead storage makes impossible, and a server may wait for it inside the kernel,
# where no signal reaches it. So the storage is asked all the time whether it lives, in every phase alike.

ASKED_SECONDS = 0.5
"""How often the storage is asked; that costs two system calls."""
SPOKEN_SECONDS = 15.0
"""How long server and client have to meet the error and say it: a client's five retries pause for 3 s in all, and on a
busy machine each answer takes its time."""
GRACE_SECONDS = 5.0
"""How long a client has to end that was asked to, and then what is done without it."""


class StorageWatch:
    """Watches the storage for the length of a ``with`` block, from a thread of its own."""

    def __init__(self, storage: Storage, client: Client, server: Callable[[], list[int]]) -> None:
        """Take whom to end when the storage has died; ``server`` names the server's processes."""
        self.words = ""
        """What the storage said last, once it has died."""
        self._storage, self._client, self._server = storage, client, server
        self._end = threading.Event()

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Watch until the block ends; raise TrialFailed where the storage died and nothing failed of it."""
        thread = threading.Thread(target=self._watch, name="storage", daemon=True)
        thread.start()
        try:
            yield
            self._storage.check()
            if self.words:  # it was found dead, and stands on something else by now
                raise TrialFailed(self.words)
        finally:
            self._end.set()
            thread.join()
            self._died()  # whatever failed of it: the server is stopped next, and must not wait for it

    def _watch(self) -> None:
        while not self._end.wait(ASKED_SECONDS):
            if self._died():
                self._put_to_an_end()

    def _died(self) -> bool:
        """Say whether the storage has died, and have whoever waits for it get an error then."""
        try:
            self._storage.check()
        except TrialFailed as died:
            self.words = self.words or str(died)
            self._storage.abandon()
        return bool(self.words)

    def _put_to_an_end(self) -> None:
        """Let server and client meet the error and say it; then ask the client to end; then end everything."""
        if self._end.wait(SPOKEN_SECONDS):
            return
        _signal(self._client.processes(), signal.SIGTERM)
        while not self._end.wait(GRACE_SECONDS):
            self._client.cancel()
            _signal(self._server(), signal.SIGKILL)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


# Whether a storage of a trial is full: its own disk, not that of the results.

LEAST_BYTES = 1 << 20
LEAST_SHARE = 0.02
"""With less left than either a write of a server may have been refused."""


def words(storage: str, data: Path, results: Path) -> str:
    """Say that the storage of a data folder is full; nothing where it has room, or shares the disk of the results.

    A full disk of the results ends the run, which can be resumed; a full storage is what this trial found.
    """
    try:
        if os.stat(data).st_dev == os.stat(results).st_dev:  # noqa: PTH116 - two calls, no objects
            return ""
        found = shutil.disk_usage(data)
    except OSError:
        return ""
    if found.free >= max(LEAST_BYTES, int(LEAST_SHARE * found.total)):
        return ""
    return f" Its storage {storage} is full: {found.free} of {found.total} bytes are free."


@contextlib.contextmanager
def told(storage: str, data: Path, results: Path) -> Iterator[None]:
    """Turn what the harness itself could not write onto a full storage into the failure of its trial."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT) and (full := words(storage, data, results)):
            raise TrialFailed(f"The data could not be written.{full}") from error
        raise


# The last words of what died in a trial, added to the failure that it caused.


def with_last_words(cause: str, error: TrialFailed, *alive: Callable[[], object]) -> str:
    """Return the failure after what is known to have caused it, with what server and storage said last.

    They are asked by ``alive``, and only one that has died says something.
    """
    words = str(error) if cause in str(error) else f"{cause} {error}"
    for ask in alive:
        try:
            ask()
        except TrialFailed as died:
            if str(died) not in words:
                words = f"{words} {died}"
    return words


# Wait until a system that was started answers.

READY_SECONDS = 120.0
"""How long a server that the harness starts may take until it answers."""

RUNNING_SECONDS = 5.0
"""How long a server that is said to run already may take until it answers."""


def wait(driver: Driver, name: str, url: str | None = None) -> None:
    """Return when it answers; raise TrialFailed when it does not in time, or has died."""
    limit = RUNNING_SECONDS if url else getattr(driver, "ready_seconds", READY_SECONDS)
    if not until(driver.ready, limit, pause=0.01):
        where = f" at {url}" if url else ""
        raise TrialFailed(f"{name}{where} did not answer within {limit:.0f} s.")
