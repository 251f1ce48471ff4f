"""Ends a trial whose storage died under it: a bucket's server or the program that mounts it.

Clients try again for minutes what a dead storage makes impossible, and a server may wait for it inside the kernel,
where no signal reaches it. So the storage is asked all the time whether it lives, in every phase alike.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator

from benchbook.errors import TrialFailed
from benchbook.storage.driver import Storage
from benchbook.systems.driver import Client

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
