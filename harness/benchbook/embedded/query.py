"""Run a query set: timed, in its order, by one worker; or for its answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from benchbook.embedded.engine import Engine, Row
from benchbook.embedded.recorder import Recorder
from benchbook.embedded.specification import Specification
from benchbook.embedded.watchdog import Watchdog


def query(
    engine: Engine,
    watchdog: Watchdog,
    specifications: Sequence[Specification],
    warmup: int,
    timeout_seconds: float,
    recorder: Recorder,
) -> None:
    """Run the first ``warmup`` queries as operation ``warmup``, then the whole set as ``query``.

    An operation lasts until its whole answer has been fetched.
    """
    for number in range(warmup if specifications else 0):
        began_ns = time.perf_counter_ns()
        try:
            with watchdog.within(timeout_seconds):
                engine.query(specifications[number % len(specifications)])
        except Exception as error:
            recorder.failed(watchdog.kind(), str(error))
        else:
            recorder.warmed(time.perf_counter_ns() - began_ns)
    recorder.begin()
    for one in specifications:
        began_ns = time.perf_counter_ns()
        try:
            with watchdog.within(timeout_seconds):
                rows = engine.query(one)
        except Exception as error:
            recorder.failed(watchdog.kind(), str(error))
        else:
            recorder.done(began_ns, time.perf_counter_ns(), rows=len(rows))
    recorder.finish()


def answer(
    engine: Engine,
    watchdog: Watchdog,
    specifications: Sequence[Specification],
    limit: int,
    timeout_seconds: float,
    recorder: Recorder,
) -> None:
    """Emit the answers of the first ``limit`` queries of each type."""
    taken: Counter[str] = Counter()
    for one in specifications:
        if taken[one.type] >= limit:
            continue
        taken[one.type] += 1
        began_ns = time.perf_counter_ns()
        try:
            with watchdog.within(timeout_seconds):
                rows = engine.query(one)
        except Exception as error:
            recorder.failed(watchdog.kind(), str(error))
            continue
        recorder.done(began_ns, time.perf_counter_ns(), rows=len(rows))
        recorder.answer(one.id, one.type, normalised(rows))
    recorder.finish()


def normalised(rows: Sequence[Row]) -> list[list[int | float | str | None]]:
    """Return the rows of an answer sorted by host and time; a bucket without a value is no row."""
    return [list(row) for row in sorted(rows, key=lambda row: (row[1] or "", row[0])) if row[2] is not None]
