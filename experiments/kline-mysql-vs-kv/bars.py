"""Read bars from Python: ``benchload bars-read`` for systems without a Go driver.

Every read in flight is a thread with a separate connection. The bars of an answer are counted; for a check they are
packed and digested like benchload's, so that all clients agree on the same bars.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.workers.engine import Engine, FailedError, Reader
from benchbook.workers.query import Dialect
from benchbook.workers.recorder import Emit, Operations, Recorder, error, event

COLUMNS = ("stock_name", "open", "close", "high", "low", "volume", "amount", "turn")

Bar = Sequence[Any]
"""Seconds since 1970, stock, open, close, high, low, volume, amount, turn."""


@dataclass(frozen=True)
class Request:
    """A line of ``benchload bars-requests``: the bars of a stock in a time range, both ends included."""

    id: int
    type: str
    stock: int
    first: int
    """Seconds since 1970."""
    last: int
    bars: int
    """Number of bars that the dataset has in the range."""
    sha256: str
    """Digest of those bars, packed; empty if the request has none."""


Ask = Callable[[Request], Sequence[Bar]]
"""Reads the bars of a request over one connection."""

BAR_BYTES = 28
NS = 1_000_000_000


def read_requests(file: Path) -> tuple[list[Request], str]:
    """Return the requests of a file and its digest."""
    content = file.read_bytes()
    found = []
    for line in content.decode().splitlines():
        one = json.loads(line)
        found.append(
            Request(
                one["id"],
                one["type"],
                one["stock"],
                one["from"],
                one["to"],
                one["bars"],
                one.get("sha256", ""),
            )
        )
    return found, f"sha256:{hashlib.sha256(content).hexdigest()}"


def sql_bar_reader(reader: Reader, dialect: Dialect) -> Ask:
    """Return a function that reads bars from an embedded engine over one connection."""
    columns = ", ".join(f'"{name}"' for name in COLUMNS)
    text = (
        f"SELECT {dialect.time_to_ns} {dialect.divide} {NS}, {columns} FROM finance "  # noqa: S608 - our own names
        f'WHERE "stock_name" = ? AND "time" BETWEEN {dialect.ns_to_time} AND {dialect.ns_to_time}'
    )
    return lambda one: reader(text, [str(one.stock), one.first * NS, one.last * NS])


def reader_of(engine: Engine) -> Callable[[], Ask]:
    """Return what opens a connection that reads bars; raise FailedError if the engine cannot read them."""
    own: Callable[[], Ask] | None = getattr(engine, "bar_reader", None)
    dialect, reader = getattr(engine, "dialect", None), getattr(engine, "reader", None)
    if own is None and isinstance(dialect, Dialect) and reader is not None:
        return lambda: sql_bar_reader(reader(), dialect)
    if own is None:
        raise FailedError("this engine does not read bars")
    return own


def packed(bar: Bar) -> bytes:
    """Return a bar in 28 bytes, packed like benchload's.

    >>> len(packed((0, "1", 2, 3, 4, 5, 6, 7, 8)))
    28
    """
    seconds, stock, *values = (int(value) for value in bar)
    prices = b"".join(value.to_bytes(3, "little") for value in values[:4])
    return struct.pack("<HI", stock, seconds) + prices + struct.pack("<IIH", *values[4:])


def digest(bars: Sequence[Bar]) -> str:
    """Return the SHA-256 of packed bars in order of time."""
    return hashlib.sha256(
        b"".join(packed(bar) for bar in sorted(bars, key=lambda bar: int(bar[0])))
    ).hexdigest()


def serve(
    engine: Engine, asked: Mapping[str, Any], program: str, emit: Emit, kept: Operations | None = None
) -> None:
    """Carry out a client's request: read for a duration, timed, or compare answers with the dataset."""
    requests, of_file = read_requests(Path(asked["requests"]))
    connect = reader_of(engine)
    if asked.get("answers") is not None:
        _check(connect(), requests[: int(asked["answers"])], of_file, program, emit)
    else:
        _read(
            connect, requests, of_file, int(asked["workers"]), float(asked["duration"]), int(asked["warmup"]),
            program, emit, kept,
        )  # fmt: skip


def _read(
    connect: Callable[[], Ask], requests: list[Request], of_file: str, in_flight: int, seconds: float,
    warmup: int, program: str, emit: Emit, kept: Operations | None,
) -> None:  # fmt: skip
    emit(_start("kline", program, in_flight) | {"warmup": warmup, "loop": "closed"})
    asks = [connect() for _ in range(in_flight)]
    if warmup:
        recorder = Recorder(emit, "warmup", kept)
        for number in range(warmup):
            _timed(asks[0], requests[number % len(requests)], recorder, threading.Lock())
        recorder.stop()
    recorder, lock, numbers = Recorder(emit, "query", kept, seconds), threading.Lock(), itertools.count()
    # next() of a count is one step of the interpreter, so threads never get the same number.
    workers = [
        threading.Thread(target=_until_over, args=(ask, requests, numbers, recorder, lock, number))
        for number, ask in enumerate(asks)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    summary = recorder.stop() | {"digest": of_file}
    emit(event("summary", workload="kline", **summary))
    if summary["errors"]:
        raise FailedError(f"{summary['errors']} reads failed")


def _until_over(
    ask: Ask, requests: list[Request], numbers: itertools.count[int], recorder: Recorder,
    lock: threading.Lock, worker: int,
) -> None:  # fmt: skip
    while not recorder.over():
        _timed(ask, requests[next(numbers) % len(requests)], recorder, lock, worker)


def _timed(ask: Ask, one: Request, recorder: Recorder, lock: threading.Lock, worker: int = 0) -> None:
    began_ns = time.perf_counter_ns()
    try:
        rows = len(ask(one))
    except Exception as failure:  # count any error of a driver, with its message
        with lock:
            recorder.failed("refused", str(failure), began_ns=began_ns, worker=worker)
        return
    ended_ns = time.perf_counter_ns()
    with lock:
        if rows != one.bars:
            message = f"a {one.type} read returned {rows} bars, but the dataset has {one.bars} there"
            recorder.failed("answer", message, began_ns=began_ns, worker=worker)
        else:
            recorder.done(began_ns, ended_ns, rows=rows, size=rows * BAR_BYTES, worker=worker)


def _check(ask: Ask, requests: list[Request], of_file: str, program: str, emit: Emit) -> None:
    emit(_start("answers", program, 1))
    recorder = Recorder(lambda _: None, "query")
    wrong = ""
    for one in requests:
        try:
            bars = ask(one)
            found = digest(bars)
        except Exception as failure:  # count any error of a driver, with its message
            wrong = str(failure)
            emit(error("refused", wrong))
            continue
        if len(bars) != one.bars or (one.sha256 and one.sha256 != found):
            wrong = f"request {one.id}: its {len(bars)} bars differ from the dataset's"
            emit(error("answer", wrong))
            continue
        now_ns = time.perf_counter_ns()
        recorder.done(now_ns, now_ns, rows=len(bars))
        emit(
            event(
                "answer",
                id=one.id,
                query_type=one.type,
                columns=["bars", "sha256"],
                rows=[[len(bars), found]],
            )
        )
    emit(event("summary", workload="answers", **(recorder.stop() | {"digest": of_file})))
    if wrong:
        raise FailedError(wrong)


def _start(workload: str, program: str, workers: int) -> dict[str, object]:
    return event(
        "start", workload=workload, time_unix_ns=time.time_ns(), target=program.partition(" ")[0],
        workers=workers, program=program,
    )  # fmt: skip
