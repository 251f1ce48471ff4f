"""A worker process of ours that holds one database, or the connections of one server: requests in, events out."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import benchbook
from benchbook.errors import TrialFailed
from benchbook.systems import process
from benchbook.systems.benchload_client import events
from benchbook.systems.driver import Event, Place


class PythonWorker:
    """One worker (``python -m benchbook.embedded``) in one trial."""

    def __init__(self, place: Place, name: str, title: str) -> None:
        """``name`` is that of its log, ``title`` what messages call its system."""
        self._place = place
        self._title = title
        self._log = place.logs / f"{name}.log"
        self.worker: process.Running | None = None

    def start(self) -> None:
        """Start the worker."""
        paths = [str(Path(benchbook.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
        self.worker = process.start(
            [sys.executable, "-m", "benchbook.embedded"],
            words=f"the {self._title} worker",
            log=self._log,
            cwd=self._place.data,
            # The data folder is no place to import from.
            environment={"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONSAFEPATH": "1"},
            registry=self._place.processes,
            pipes=True,
        )

    def processes(self) -> list[int]:
        """Return the worker and, during a load, the generator that feeds it."""
        return self.worker.tree() if self.worker is not None else []

    def stop(self) -> None:
        """Close the worker's stdin, at which it closes what is open and ends; then by force."""
        if self.worker is None:
            return
        stdin = self.worker.process.stdin
        if stdin is not None:
            with contextlib.suppress(OSError):  # it died with a request unread
                stdin.close()
        self.worker.stop(first=None)
        self.worker = None

    def ask(self, do: str, **more: Any) -> Event:
        """Send a request and return its reply; raise TrialFailed when it is refused or the worker dies."""
        reply: Event = {}
        for event in self.talk(do, **more):
            reply = event
        return reply

    def talk(self, do: str, **more: Any) -> Iterator[Event]:
        """Send a request and yield everything up to its reply, which comes last."""
        if self.worker is None:
            raise TrialFailed(f"The {self._title} worker is not running.")
        stdin, stdout = self.worker.process.stdin, self.worker.process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write((json.dumps({"do": do, **more}) + "\n").encode())
            stdin.flush()
        except OSError:
            self._died()
        replied = False
        try:
            for event in events(stdout, f"the {self._title} worker"):
                replied = event["type"] == "reply"
                if replied and not event["ok"]:
                    raise TrialFailed(
                        f"{self._title} cannot {do}: {event['message']}", f"Its log is {self._log}."
                    )
                yield event
                if replied:
                    return
            self._died()
        finally:
            if not replied and self.worker is not None:
                # Somebody stopped listening half-way: what is still to come would answer the next request.
                self.worker.kill()

    def _died(self) -> None:
        assert self.worker is not None
        self.worker.wait_ending(5.0)
        self.worker.check()
        raise TrialFailed(f"The {self._title} worker closed its output.", f"Its log is {self._log}.")
