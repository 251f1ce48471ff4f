"""Load a dataset: one writer, one transaction a batch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from benchbook.embedded.engine import Engine
from benchbook.embedded.failure import FailedError
from benchbook.embedded.operations import Operations
from benchbook.embedded.recorder import Emit, Recorder, event
from benchbook.embedded.stream import batches
from benchbook.embedded.watchdog import Watchdog


@dataclass(frozen=True)
class Load:
    """What is to be loaded, and how."""

    command: Sequence[str]
    """Benchload's generator, writing Arrow."""
    batch_rows: int
    rows: int
    """Rows that the command will make in all."""
    timeout_seconds: float
    """For each batch."""


def load(
    engine: Engine, watchdog: Watchdog, asked: Load, program: str, emit: Emit, kept: Operations | None = None
) -> None:
    """Insert what the generator makes; as benchload does, end at the first batch that is refused.

    An operation is one batch, from the call of the engine until its commit; a table is created in its first.
    Making Python rows of a batch is no part of an operation's latency, but of the load's time. Raises
    FailedError after the summary when a batch was refused, and StreamBrokenError when the generator fails.
    """
    emit(
        event(
            "start",
            workload="load",
            time_unix_ns=time.time_ns(),
            target=program.partition(" ")[0],
            workers=1,
            batch_rows=asked.batch_rows,
            rows=asked.rows,
            program=program,
        )
    )
    recorder = Recorder(emit, "write", kept)
    refusal, stalled_ns = _insert_all(engine, watchdog, asked, recorder)
    summary = recorder.stop()
    summary["generator_stall_ns"] = stalled_ns
    summary["rows_unsent"] = max(0, asked.rows - summary["rows"] - summary["rows_refused"])
    if stalled_ns * 2 > summary["duration_ns"]:
        summary["bottleneck"] = "generator"
    emit(event("summary", workload="load", **summary))
    if refusal is not None:
        raise FailedError(refusal)


def _insert_all(
    engine: Engine, watchdog: Watchdog, asked: Load, recorder: Recorder
) -> tuple[str | None, int]:
    """Return the words of the refusal that ended the load, if any, and how long it waited for rows, in ns."""
    created: set[str] = set()
    stalled_ns, waiting_from_ns = 0, time.perf_counter_ns()
    for table, batch in batches(asked.command):
        stalled_ns += time.perf_counter_ns() - waiting_from_ns
        rows = engine.convert(batch)
        began_ns = time.perf_counter_ns()
        try:
            with watchdog.within(asked.timeout_seconds):
                if table not in created:
                    engine.create(table, batch.schema)
                    created.add(table)
                engine.insert(table, rows)
        except Exception as error:
            recorder.failed(watchdog.kind(), str(error), batch.num_rows, began_ns=began_ns)
            return str(error), stalled_ns
        ended_ns = time.perf_counter_ns()
        size = int(pa.ipc.get_record_batch_size(batch))
        recorder.done(began_ns, ended_ns, rows=batch.num_rows, values=_values(batch), size=size)
        waiting_from_ns = time.perf_counter_ns()
    return None, stalled_ns


def _values(batch: pa.RecordBatch) -> int:
    """Return the non-null numbers of a batch: its fields, neither time nor tags."""
    numbers = [
        column
        for column in batch.columns
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    ]
    return sum(batch.num_rows - int(column.null_count) for column in numbers)
