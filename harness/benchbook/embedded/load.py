"""Load a dataset: one writer, one transaction a batch."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pyarrow as pa

from benchbook.embedded.engine import Engine
from benchbook.embedded.recorder import Recorder
from benchbook.embedded.stream import batches
from benchbook.embedded.watchdog import Watchdog

FAILURES_IN_A_ROW = 10
"""After so many batches refused one after the other, the load is given up."""


class RefusedError(Exception):
    """The engine refuses everything; the text is its last error."""


def load(
    engine: Engine, watchdog: Watchdog, command: Sequence[str], timeout_seconds: float, recorder: Recorder
) -> None:
    """Run ``command`` (benchload's generator) and insert what it makes; raise when that fails.

    An operation is one batch, from the call of the engine until its commit; a table is created in its first.
    Making rows of a batch is no part of an operation's latency, but of the load's time.
    """
    tables: set[str] = set()
    refused_in_a_row = 0
    stalled_ns = 0
    waited_from_ns = time.perf_counter_ns()
    recorder.begin()
    for table, batch in batches(command):
        stalled_ns += time.perf_counter_ns() - waited_from_ns
        rows = engine.convert(batch)
        began_ns = time.perf_counter_ns()
        try:
            with watchdog.within(timeout_seconds):
                if table not in tables:
                    engine.create(table, batch.schema)
                engine.insert(table, rows)
        except Exception as error:
            recorder.failed(watchdog.kind(), str(error), batch.num_rows)
            refused_in_a_row += 1
            if refused_in_a_row >= FAILURES_IN_A_ROW:
                recorder.finish(stalled_ns)
                raise RefusedError(str(error)) from error
        else:
            ended_ns = time.perf_counter_ns()
            tables.add(table)
            refused_in_a_row = 0
            size = int(pa.ipc.get_record_batch_size(batch))
            recorder.done(began_ns, ended_ns, rows=batch.num_rows, values=_values(batch), size=size)
        waited_from_ns = time.perf_counter_ns()
    recorder.finish(stalled_ns)


def _values(batch: pa.RecordBatch) -> int:
    """Return the non-null numbers of a batch: its fields, neither time nor tags."""
    numbers = [
        column
        for column in batch.columns
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    ]
    return sum(batch.num_rows - int(column.null_count) for column in numbers)
