"""Reads of bars: what a client is asked for, and the client that benchload is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from benchbook.systems.benchload_client import BenchloadClient, recorded
from benchbook.systems.driver import Event, LoadRequest

Defect = Literal["one-stock", "three-bars", "undecoded"]
"""What a published reader did: asked for the first stock always; asked for a minute before and after the bar of
a short read; took any answer for a good one."""

SQL_DEFECTS: frozenset[Defect] = frozenset({"one-stock", "three-bars"})
"""Of the published reader of MySQL, and of SQL databases that have none."""


@dataclass(frozen=True)
class BarsRequest:
    """Requests of one file, to be read."""

    requests: Path
    """File that ``benchload bars-requests`` wrote."""
    flags: tuple[str, ...]
    """The dataset's flags."""
    in_flight: int
    seconds: float
    warmup: int = 0
    undecoded: bool = False
    timeout_seconds: float = 30.0
    answers: int | None = None
    """When set: do not time, but hold the first N answers against the dataset."""
    record: Path | None = None
    """When set: the file in which each read is kept as a record of its own."""


@runtime_checkable
class BarsClient(Protocol):
    """What a client can do besides when its system keeps bars."""

    published_defects: frozenset[Defect]
    program: str
    """Name of the client's program and library, for the report."""

    def bars(self, request: BarsRequest) -> Iterator[Event]:
        """Read bars, timed or to be checked, yielding events as they happen."""
        ...


class BenchloadBars(BenchloadClient):
    """Benchload, which loads and reads bars besides what it does for other datasets."""

    def __init__(
        self, *arguments: Any, defects: frozenset[Defect], through: str = "", program: str, **options: Any
    ) -> None:
        """``through`` is the address of a packed-day service that reads go through."""
        super().__init__(*arguments, **options)
        self.published_defects = defects
        self.through = through
        self.program = program

    def load(self, request: LoadRequest) -> Iterator[Event]:
        """Load bars in whole days of a stock; any other dataset as every server."""
        if request.dataset.generator != "kline":
            return super().load(request)
        command: list[str | Path] = [self._benchload, "bars-load", *request.dataset.flags, *self._where()]
        command += ["--workers", str(request.workers), "--batch-rows", str(request.batch_rows)]
        command += ["--timeout", f"{request.timeout_seconds:g}s", *recorded(request.record)]
        return self._events(command, "bars-load")

    def bars(self, request: BarsRequest) -> Iterator[Event]:
        """Read bars, timed or to be checked."""
        command: list[str | Path] = [self._benchload, "bars-read", *request.flags, *self._where()]
        command += ["--requests", request.requests, "--in-flight", str(request.in_flight)]
        if request.answers is None:
            command += ["--duration", f"{request.seconds:g}s", "--warmup", str(request.warmup)]
        else:
            command += ["--answers", str(request.answers)]
        command += ["--timeout", f"{request.timeout_seconds:g}s"]
        command += ["--undecoded"] if request.undecoded else []
        command += ["--through", self.through] if self.through else []
        command += recorded(request.record)
        return self._events(command, "bars-read")
