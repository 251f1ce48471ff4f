"""Run a query set: timed, in its order, by one worker; or for its answers."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterable, Sequence

from benchbook.embedded.engine import Engine, Row
from benchbook.embedded.failure import FailedError
from benchbook.embedded.operations import Operations
from benchbook.embedded.recorder import Emit, Recorder, error, event
from benchbook.embedded.specification import QuerySet, Specification
from benchbook.embedded.watchdog import Watchdog


def query(
    engine: Engine,
    watchdog: Watchdog,
    queries: QuerySet,
    warmup: int,
    timeout_seconds: float,
    program: str,
    emit: Emit,
    kept: Operations | None = None,
) -> None:
    """Run the first ``warmup`` queries (over again if there are fewer), then the whole set, timed.

    An operation lasts until its whole answer has been fetched. Raises FailedError after the summary when a
    timed query failed.
    """
    specifications = queries.specifications
    emit(_start("query", program, len(specifications)) | {"warmup": warmup, "loop": "closed"})
    if warmup:
        warm = Recorder(emit, "warmup", kept)
        again = itertools.islice(itertools.cycle(specifications), warmup)
        _run(engine, watchdog, again, timeout_seconds, warm)
        warm.stop()
    recorder = Recorder(emit, "query", kept)
    refusal = _run(engine, watchdog, specifications, timeout_seconds, recorder)
    summary = recorder.stop() | {"digest": queries.digest}
    emit(event("summary", workload="query", **summary))
    if refusal is not None:
        raise FailedError(refusal)


def answers(
    engine: Engine,
    watchdog: Watchdog,
    queries: QuerySet,
    limit: int,
    timeout_seconds: float,
    program: str,
    emit: Emit,
) -> None:
    """Emit the answers of the first ``limit`` queries of each type; nothing is timed."""
    asked = _first_of_each_type(queries.specifications, limit)
    emit(_start("answers", program, len(asked)))
    recorder = Recorder(lambda _: None, "query")
    refusal = None
    for one in asked:
        try:
            with watchdog.within(timeout_seconds):
                rows = engine.query(one)
        except Exception as failure:
            refusal = str(failure)
            recorder.failed(watchdog.kind(), refusal)
            emit(error(watchdog.kind(), refusal))
            continue
        now_ns = time.perf_counter_ns()
        recorder.done(now_ns, now_ns)
        columns = ["time_ns", "host", "value"]
        emit(event("answer", id=one.id, query_type=one.type, columns=columns, rows=normalised(rows)))
    summary = recorder.stop() | {"digest": queries.digest}
    emit(event("summary", workload="answers", **summary))
    if refusal is not None:
        raise FailedError(refusal)


def normalised(rows: Sequence[Row]) -> list[list[int | float | str | None]]:
    """Return the rows of an answer sorted by host and time; a bucket without a value is left out."""
    return [list(row) for row in sorted(rows, key=lambda row: (row[1] or "", row[0])) if row[2] is not None]


def _run(
    engine: Engine,
    watchdog: Watchdog,
    specifications: Iterable[Specification],
    timeout_seconds: float,
    recorder: Recorder,
) -> str | None:
    """Return the words of the last query that failed, if one did."""
    refusal = None
    for one in specifications:
        began_ns = time.perf_counter_ns()
        try:
            with watchdog.within(timeout_seconds):
                engine.query(one)
        except Exception as failure:
            refusal = str(failure)
            recorder.failed(watchdog.kind(), refusal, began_ns=began_ns)
        else:
            recorder.done(began_ns, time.perf_counter_ns())
    return refusal


def _start(workload: str, program: str, operations: int) -> dict[str, object]:
    return event(
        "start",
        workload=workload,
        time_unix_ns=time.time_ns(),
        target=program.partition(" ")[0],
        workers=1,
        operations=operations,
        program=program,
    )


def _first_of_each_type(specifications: Sequence[Specification], limit: int) -> list[Specification]:
    seen: Counter[str] = Counter()
    kept = []
    for one in specifications:
        if seen[one.type] < limit:
            seen[one.type] += 1
            kept.append(one)
    return kept
