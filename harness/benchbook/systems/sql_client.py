"""The client of a server in SQL: benchload, or a worker in Python for datasets whose questions are texts in SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchbook.declare.level import Setting
from benchbook.measure.measurement import Event
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import LoadRequest, Place, QueryRequest
from benchbook.systems.python_worker import PythonWorker, WorkerClient


class Questions(PythonWorker):
    """A worker in Python with a connection to one database, for sets of questions (``workers/questions.py``)."""

    def __init__(
        self,
        place: Place,
        title: str,
        engine: str,
        url: Callable[[], str],
        database: str,
        secrets: Callable[[], Mapping[str, Setting]] = dict,
    ) -> None:
        """``engine`` connects to the database at ``url()``; ``secrets()`` are its other settings."""
        super().__init__(place, f"client-{database}", f"{title} client")
        self._engine, self._url, self._database, self._secrets = engine, url, database, secrets

    def connect(self) -> None:
        """Start the worker and connect, unless it is connected."""
        if self.worker is None:
            self.start()
            settings = {"database": self._database, **self._secrets()}
            self.ask("open", engine=self._engine, path=self._url(), settings=settings)


class SqlClient(BenchloadClient):
    """benchload; for datasets whose questions are texts in SQL, a worker in Python."""

    def __init__(self, benchload: Path, questions: Questions, **options: Any) -> None:
        super().__init__(benchload, **options)
        self._questions = questions
        self._worker = WorkerClient(questions, benchload, shares_process=False)
        self._asks_worker = False

    def load(self, request: LoadRequest) -> Iterator[Event]:
        self._asks_worker = request.dataset.by_worker
        if not self._asks_worker:
            return super().load(request)
        self._questions.connect()
        return self._worker.load(request)

    def query(self, request: QueryRequest) -> Iterator[Event]:
        if not self._asks_worker:
            return super().query(request)
        self._questions.connect()
        return self._worker.query(request)

    def processes(self) -> list[int]:
        return [*super().processes(), *self._worker.processes()]

    def cancel(self) -> None:
        super().cancel()
        self._worker.cancel()
