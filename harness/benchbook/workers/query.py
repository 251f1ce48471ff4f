"""Run a query set: timed, in its order, by one worker; or for its answers."""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any

from benchbook.workers.digest import Seen
from benchbook.workers.engine import Engine, FailedError, Large, Row, Specification, Watchdog
from benchbook.workers.recorder import Emit, Operations, Recorder, error, event

AGGREGATES = {"max": "max", "mean": "avg"}
"""Aggregate of a specification → SQL function."""


@dataclass(frozen=True)
class Dialect:
    """Time expressions of an SQL dialect."""

    time_to_ns: str
    """Expression for the column ``time`` in nanoseconds."""
    ns_to_time: str
    """Expression for a bound number of nanoseconds as a value of the column ``time``."""
    divide: str
    """Operator for integer division."""


@dataclass(frozen=True)
class QuerySet:
    """The queries of a file in order, and the SHA-256 of the file."""

    specifications: list[Specification]
    digest: str


def read(file: Path) -> QuerySet:
    """Return the query set of a file; raise ValueError with the number of an invalid line."""
    found = []
    content = file.read_bytes()
    for number, line in enumerate(content.decode().splitlines(), 1):
        if line.strip():
            try:
                found.append(_parse(json.loads(line)))
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(f"{file.name}, line {number}: {error}") from error
    return QuerySet(found, hashlib.sha256(content).hexdigest())


def render(specification: Specification, dialect: Dialect) -> tuple[str, list[Any]]:
    """Return a specification as SQL with bound parameters.

    Buckets begin at whole multiples of their length since 1970; buckets without rows are absent. Rows are ordered by
    host and time.
    """
    one = specification
    bucket = f"{dialect.time_to_ns} {dialect.divide} {one.bucket_ns} * {one.bucket_ns}"
    host = quoted("hostname") if one.group_by_host else "NULL"
    where = f"{quoted('time')} >= {dialect.ns_to_time} AND {quoted('time')} < {dialect.ns_to_time}"
    parameters: list[Any] = [one.start_ns, one.end_ns]
    if one.hosts:
        where += f" AND {quoted('hostname')} IN ({', '.join('?' * len(one.hosts))})"
        parameters += one.hosts
    value = f"{AGGREGATES[one.aggregate]}({quoted(one.field)})"
    groups = "1, 2" if one.group_by_host else "1"
    order = "2, 1" if one.group_by_host else "1"
    text = (
        f"SELECT {bucket} AS bucket, {host} AS host, {value} AS value "  # noqa: S608
        f"FROM {quoted(one.table)} WHERE {where} GROUP BY {groups} ORDER BY {order}"
    )
    return text, parameters


def quoted(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _parse(line: Any) -> Specification:
    names = [field.name for field in fields(Specification) if field.default is MISSING]
    if missing := [name for name in names if name not in line]:
        raise ValueError(f"the query specification lacks {', '.join(missing)}")
    values = {name: line[name] for name in names} | {
        "form": line.get("form", ""),
        "limit": line.get("limit", 0.0),
        "statements": line.get("statements"),
        "ordered": line.get("ordered", False),
    }
    values["hosts"] = tuple(values["hosts"] or ())
    found = Specification(**values)
    if found.form:
        return found
    if found.aggregate not in AGGREGATES:
        raise ValueError(f'aggregate "{found.aggregate}"; allowed: {", ".join(AGGREGATES)}')
    if not isinstance(found.bucket_ns, int) or found.bucket_ns <= 0 or found.start_ns < 0:
        raise ValueError("bucket_ns must be a positive integer and start_ns at least 0")
    return found


def query(
    engine: Engine,
    watchdog: Watchdog,
    queries: QuerySet,
    warmup: int,
    timeout_seconds: float,
    program: str,
    emit: Emit,
    kept: Operations | None = None,
    lasts_seconds: float | None = None,
) -> None:
    """Run the first ``warmup`` queries (repeating the set if it is shorter), then the whole set, timed.

    With ``lasts_seconds`` queries begin for so long, again with the first after the last.

    An operation lasts until its whole answer has been fetched. Raises FailedError after the summary when a
    timed query failed.
    """
    specifications, seen = queries.specifications, Seen()
    count = None if lasts_seconds else len(specifications)
    emit(_start("query", program, count) | {"warmup": warmup, "loop": "closed"})
    if warmup:
        warm = Recorder(emit, "warmup", kept)
        again = itertools.islice(itertools.cycle(specifications), warmup)
        _run(engine, watchdog, again, timeout_seconds, warm, seen)
        warm.stop()
    recorder = Recorder(emit, "query", kept, lasts_seconds)
    cycled = itertools.cycle(specifications) if lasts_seconds else specifications
    refusal = _run(engine, watchdog, cycled, timeout_seconds, recorder, seen)
    summary = recorder.stop() | {"digest": queries.digest}
    emit(seen.event())
    emit(event("summary", workload="query", **summary))
    if refusal is not None:
        raise FailedError(refusal)


def answers(
    engine: Engine,
    watchdog: Watchdog,
    queries: QuerySet,
    limit: int,
    also: Collection[int],
    timeout_seconds: float,
    program: str,
    emit: Emit,
) -> None:
    """Emit the answers to the first ``limit`` queries of each type, untimed, and the digests of these and others.

    ``also`` has the ids of the others.
    """
    first = _first_of_each_type(queries.specifications, limit)
    asked = [*first, *(one for one in queries.specifications if one.id in also and one not in first)]
    emit(_start("answers", program, len(asked)))
    recorder, seen = Recorder(lambda _: None, "query"), Seen()
    refusal = None
    for place, one in enumerate(asked):
        try:
            with watchdog.within(timeout_seconds):
                found = engine.query(replace(one, compared=True))
            rows = found() if isinstance(found, Large) else found
        except Exception as failure:
            refusal = _failure(one, failure)
            recorder.failed(watchdog.kind(), refusal)
            emit(error(watchdog.kind(), refusal))
            continue
        now_ns = time.perf_counter_ns()
        recorder.done(now_ns, now_ns)
        seen.add(one, found)
        columns = ["time_ns", "host", "value"]
        if place < len(first):
            emit(event("answer", id=one.id, query_type=one.type, columns=columns, rows=normalised(rows)))
    emit(seen.event())
    summary = recorder.stop() | {"digest": queries.digest}
    emit(event("summary", workload="answers", **summary))
    if refusal is not None:
        raise FailedError(refusal)


def normalised(rows: Sequence[Row]) -> list[list[int | float | str | None]]:
    """Return the rows of an answer sorted by host and time, without buckets that have no value."""
    return [list(row) for row in sorted(rows, key=lambda row: (row[1] or "", row[0])) if row[2] is not None]


def _run(
    engine: Engine,
    watchdog: Watchdog,
    specifications: Iterable[Specification],
    timeout_seconds: float,
    recorder: Recorder,
    seen: Seen,
) -> str | None:
    """Return the error of the last query that failed, or None."""
    refusal = None
    for one in specifications:
        if recorder.over():
            break
        began_ns = time.perf_counter_ns()
        try:
            with watchdog.within(timeout_seconds):
                found = engine.query(one)
        except Exception as failure:
            refusal = _failure(one, failure)
            recorder.failed(watchdog.kind(), refusal, began_ns=began_ns)
        else:
            recorder.done(began_ns, time.perf_counter_ns())
            seen.add(one, found)
            del found  # only now: to free a large answer takes time
    return refusal


def _failure(one: Specification, failure: Exception) -> str:
    """Return the message of a query that failed, with its type: that is the name of a question."""
    return f"{one.type}: {failure}"


def _start(workload: str, program: str, operations: int | None) -> dict[str, object]:
    return event(
        "start",
        workload=workload,
        time_unix_ns=time.time_ns(),
        target=program.partition(" ")[0],
        workers=1,
        program=program,
        **({} if operations is None else {"operations": operations}),
    )


def _first_of_each_type(specifications: Sequence[Specification], limit: int) -> list[Specification]:
    seen: Counter[str] = Counter()
    kept = []
    for one in specifications:
        if seen[one.type] < limit:
            seen[one.type] += 1
            kept.append(one)
    return kept
