"""The worker, ``python -m benchbook.workers``: one engine, one database, one trial; requests in, events out.

Requests are JSON lines ``{"do": …}``: ``open``, ``tables``, ``load``, ``query``, ``perform``, ``settle``, ``count``,
``version``, ``close``. ``perform`` names the module of a workload, whose function ``serve`` does its operations. Each
request ends with ``{"v": 1, "type": "reply", "ok": true, …}``, or with ``"ok": false`` and a ``message``; before that
come benchload's events.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from benchbook.declare import plugin
from benchbook.workers.engine import Engine, FailedError, StreamBrokenError, Watchdog, open_engine
from benchbook.workers.recorder import recording

SCHEMA = 1
Request = dict[str, Any]


class Worker:
    """Answers requests until stdin ends."""

    def __init__(self, requests: IO[str], events: IO[str]) -> None:
        self._requests = requests
        self._events = events
        self._open_now: tuple[Engine, Watchdog] | None = None
        self._program = ""
        self._answers: dict[str, Callable[[Request], dict[str, Any]]] = {
            "open": self._open,
            "tables": lambda _: {"tables": self._opened()[0].tables()},
            "load": self._load,
            "query": self._query,
            "perform": self._perform,
            "settle": self._settle,
            "count": self._count,
            "version": lambda _: {"version": self._opened()[0].version()},
            "close": lambda _: self._close(),
        }

    def run(self) -> None:
        """Answer requests one by one; close the database at the end."""
        for line in self._requests:
            request = json.loads(line)
            reply: dict[str, Any]
            try:
                reply = {"ok": True, **self._answers[request["do"]](request)}
            except BrokenPipeError:
                return
            except (FailedError, StreamBrokenError) as error:
                reply = {"ok": False, "message": str(error)}
            except Exception as error:  # report any error of an engine to the harness
                reply = {"ok": False, "message": f"{type(error).__name__}: {error}"}
            self.emit({"v": SCHEMA, "type": "reply", **reply})
        self._close()

    def emit(self, event: dict[str, Any]) -> None:
        """Write one line at once."""
        self._events.write(json.dumps(event, separators=(",", ":")) + "\n")
        self._events.flush()

    def _opened(self) -> tuple[Engine, Watchdog]:
        if self._open_now is None:
            raise ValueError("no database is open")
        return self._open_now

    def _open(self, request: Request) -> dict[str, Any]:
        engine = open_engine(request["engine"], request["path"], request["settings"])
        self._open_now = engine, Watchdog(engine.interrupt)
        self._program = f"{request['engine']} {engine.version()}"
        return {"version": engine.version()}

    def _load(self, request: Request) -> dict[str, Any]:
        from benchbook.workers.stream import Load, load

        engine, watchdog = self._opened()
        asked = Load(
            command=request["command"],
            file=request.get("file"),
            batch_rows=int(request["batch_rows"]),
            rows=int(request["rows"]),
            timeout_seconds=float(request["timeout_seconds"]),
            lasts_seconds=request.get("lasts_seconds"),
            whole=bool(request.get("whole")),
        )
        with recording(request.get("operations")) as kept:
            load(engine, watchdog, asked, self._program, self.emit, kept)
        return {}

    def _query(self, request: Request) -> dict[str, Any]:
        from benchbook.workers import content
        from benchbook.workers.query import answers, query, read

        engine, watchdog = self._opened()
        queries, timeout = read(Path(request["queries"])), float(request["timeout_seconds"])
        content.know(queries.specifications)
        if request["answers"] is None:
            with recording(request.get("operations")) as kept:
                warmup = int(request["warmup"])
                lasts = request.get("lasts_seconds")
                query(engine, watchdog, queries, warmup, timeout, self._program, self.emit, kept, lasts)
        else:
            limit, also = int(request["answers"]), frozenset(request.get("also") or ())
            answers(engine, watchdog, queries, limit, also, timeout, self._program, self.emit)
        return {}

    def _perform(self, request: Request) -> dict[str, Any]:
        engine, _ = self._opened()
        serve = plugin.imported(request["module"]).serve
        with recording(request.get("operations")) as kept:
            serve(engine, request["asked"], self._program, self.emit, kept)
        return {}

    def _settle(self, _: Request) -> dict[str, Any]:
        self._opened()[0].settle()
        return {}

    def _count(self, _: Request) -> dict[str, Any]:
        counts = self._opened()[0].count()
        return {"tables": {name: {"rows": one.rows, "fields": one.fields} for name, one in counts.items()}}

    def _close(self) -> dict[str, Any]:
        if self._open_now is not None:
            engine, watchdog = self._open_now
            self._open_now = None
            watchdog.stop()
            engine.close()
        return {}


def main() -> None:
    """Run a worker on stdin and stdout; redirect what libraries print to stderr."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        Worker(sys.stdin, events).run()
    except BrokenPipeError:
        os._exit(1)  # the harness is gone


if __name__ == "__main__":
    main()
