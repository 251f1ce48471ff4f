"""Watch a trial: wait until it is ready, and end it when it hangs, its storage dies or its disk is full."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.measure.usage import read
from benchbook.process.spawn import tree
from benchbook.process.wait import until
from benchbook.storage.local import Storage
from benchbook.systems.driver import Client, Driver

HANG_SECONDS = 300.0
"""Maximum time that all processes may be idle. Databases and Go programs have background work every second."""
HANG_VARIABLE = "BENCHBOOK_HANG_SECONDS"
"""Environment variable that overrides it."""
ACTIVE_CPU_SECONDS = 0.02
"""Processor time within that period that counts as activity."""
SILENT_SECONDS = 3600.0
"""Maximum time without an event of a client: it reports each second, or after each operation of an embedded engine.
Background work of a server does not count, so this ends what the first limit cannot see."""


class Hang:
    """Ends a trial that makes no progress: all its processes are idle, or its client reports nothing.

    Clients have a timeout for each operation. They cannot detect that an embedded engine or benchload itself hangs;
    then no process of the harness uses processor time, or only the server's background work does.
    """

    def __init__(
        self,
        processes: Callable[[], list[int]],
        seconds: float | None = None,
        silent_seconds: float = SILENT_SECONDS,
    ) -> None:
        """Call ``processes`` after a hang for what to kill: the trial's server and client."""
        self.seconds = seconds or float(os.environ.get(HANG_VARIABLE) or HANG_SECONDS)
        self.silent_seconds = silent_seconds
        self.found = ""
        """What was found: empty while there is progress."""
        self._processes = processes
        self._end = threading.Event()
        self._heard: float | None = None

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Watch during the ``with`` block, in a separate thread."""
        thread = threading.Thread(target=self._watch, name="hang", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._end.set()
            thread.join()

    def note(self) -> str:
        """Return a note to append to the resulting failure; empty if nothing hung."""
        return f" {self.found}, so Benchbook ended them." if self.found else ""

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Expect events of a client in the ``with`` block."""
        self._heard = time.monotonic()
        try:
            yield
        finally:
            self._heard = None

    def heard(self) -> None:
        """Note an event of the client."""
        self._heard = time.monotonic()

    def _watch(self) -> None:
        quiet, before = 0.0, _used()
        step = min(self.seconds, self.silent_seconds) / 10
        while not self._end.wait(step):
            heard = self._heard
            if heard is not None and time.monotonic() - heard > self.silent_seconds:
                self._stop(f"The client reported nothing for {self.silent_seconds:g} s")
                self._heard = time.monotonic()
            now = _used()
            if before is None or now is None or abs(now - before) > ACTIVE_CPU_SECONDS:
                quiet, before = 0.0, now
                continue
            quiet += step
            if quiet >= self.seconds:
                self._stop(f"All processes were idle for {self.seconds:g} s")
                quiet = 0.0

    def _stop(self, why: str) -> None:
        self.found = self.found or why
        for pid in self._processes():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def _used() -> float | None:
    """Return the processor time of all child processes; None if none runs."""
    found = [one for pid in tree(os.getpid())[1:] if (one := read(pid)) is not None]
    if not found:
        return None
    return sum(one.usage.user + one.usage.system + one.reaped.user + one.reaped.system for one in found)


PROBE_SECONDS = 0.5
"""Interval of the checks of the storage; a check costs two system calls."""
REPORT_SECONDS = 15.0
"""Time that server and client may take to report the error themselves: a client's five retries pause for 3 s in total,
and on a busy machine each answer takes longer."""
GRACE_SECONDS = 5.0
"""Time that a client may take to end after a request, before it is killed."""


class StorageWatch:
    """Ends a trial whose storage dies: a bucket's server or the program that mounts it.

    Clients retry for minutes what a dead storage makes impossible, and a server may wait for it inside the kernel,
    where no signal reaches it. Therefore the storage is checked throughout every phase.
    """

    def __init__(self, storage: Storage, client: Client, server: Callable[[], list[int]]) -> None:
        """End ``client`` and the processes that ``server`` returns when the storage has died."""
        self.failure = ""
        """Why the storage died; empty while it works."""
        self._storage, self._client, self._server = storage, client, server
        self._end = threading.Event()

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Watch during the ``with`` block; raise TrialFailed if the storage died and nothing else failed."""
        thread = threading.Thread(target=self._watch, name="storage", daemon=True)
        thread.start()
        try:
            yield
            self._storage.check()
            if self.failure:  # it died, although a later check succeeds
                raise TrialFailed(self.failure)
        finally:
            self._end.set()
            thread.join()
            self._died()  # the server is stopped next and must not wait for a dead storage

    def _watch(self) -> None:
        while not self._end.wait(PROBE_SECONDS):
            if self._died():
                self._end_trial()

    def _died(self) -> bool:
        """Return whether the storage has died; if so, make pending accesses fail."""
        try:
            self._storage.check()
        except TrialFailed as died:
            self.failure = self.failure or str(died)
            self._storage.abandon()
        return bool(self.failure)

    def _end_trial(self) -> None:
        """Let server and client report the error; then ask the client to end; then kill everything."""
        if self._end.wait(REPORT_SECONDS):
            return
        _signal(self._client.processes(), signal.SIGTERM)
        while not self._end.wait(GRACE_SECONDS):
            self._client.cancel()
            _signal(self._server(), signal.SIGKILL)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


LEAST_BYTES = 1 << 20
LEAST_SHARE = 0.02
"""With less free space than either, a server's write may have been refused."""


def disk_full_note(storage: str, data: Path, results: Path) -> str:
    """Return a note that the data folder's storage is full; empty if it has room or shares the disk of the results.

    A full results disk ends the run, which can be resumed; a full storage is a result of this trial.
    """
    try:
        if not apart(data, results):
            return ""
        found = shutil.disk_usage(data)
    except OSError:
        return ""
    if found.free >= max(LEAST_BYTES, int(LEAST_SHARE * found.total)):
        return ""
    return f" The storage {storage} is full: {found.free} of {found.total} bytes are free."


@contextlib.contextmanager
def disk_full_as_failure(storage: str, data: Path, results: Path) -> Iterator[None]:
    """Turn the harness's failure to write onto a full storage into the failure of the trial."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT) and (full := disk_full_note(storage, data, results)):
            raise TrialFailed(f"Could not write the data.{full}") from error
        raise


def apart(data: Path, results: Path) -> bool:
    """Return whether the data is on another disk than the results."""
    return os.stat(data).st_dev != os.stat(results).st_dev  # noqa: PTH116 - two calls, no objects


def broken_storage(error: Exception, data: Path | None) -> bool:
    """Return whether an input/output error may be that of the storage ``data``, which fails its trial alone.

    None if the storage shares the disk of the results: if that disk is broken, every later trial would fail too.
    """
    if data is None or not isinstance(error, OSError) or error.errno != errno.EIO:
        return False
    return error.filename is None or Path(os.fsdecode(error.filename)).is_relative_to(data)


def with_cause(cause: str, error: TrialFailed, *probes: Callable[[], object]) -> str:
    """Return the failure with its known cause first, and what dead servers and storages report last.

    Each of ``probes`` raises TrialFailed if its server or storage has died.
    """
    message = str(error) if cause in str(error) else f"{cause} {error}"
    for probe in probes:
        try:
            probe()
        except TrialFailed as died:
            if str(died) not in message:
                message = f"{message} {died}"
    return message


READY_SECONDS = 120.0
"""Time that a server that the harness starts may take to answer."""

RUNNING_SECONDS = 5.0
"""Time that a server that is already running may take to answer."""


def wait_ready(driver: Driver, name: str, url: str | None = None) -> None:
    """Wait until the system answers; raise TrialFailed if it does not answer in time or has died."""
    limit = RUNNING_SECONDS if url else getattr(driver, "ready_seconds", READY_SECONDS)
    if not until(driver.ready, limit, pause=0.01):
        where = f" at {url}" if url else ""
        raise TrialFailed(f"{name}{where} did not answer within {limit:.0f} s.")
