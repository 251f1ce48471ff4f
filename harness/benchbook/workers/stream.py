"""Read benchload's stream of batches (Arrow IPC) ahead, and load it: one writer, one transaction per batch."""

from __future__ import annotations

import contextlib
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import IO

import pyarrow as pa

from benchbook.process.spawn import die_with_parent
from benchbook.workers import content
from benchbook.workers.engine import Engine, FailedError, StreamBrokenError, Watchdog
from benchbook.workers.questions import add, declared
from benchbook.workers.recorder import Emit, Operations, Recorder, event

# Benchload's stream of batches: complete Arrow IPC streams, one after the other, read ahead by a thread.

HELD_ROWS = 127
"""Behind how many later rows benchload may write a row of the dataset iot (``dataset/iot/fate.go``)."""
AHEAD = 4
"""Number of batches to read ahead, so that the generator works while the engine writes."""
DYING_SECONDS = 5.0
"""How long a generator whose stream broke has to end by itself."""


def batches(command: Sequence[str]) -> Generator[tuple[str, pa.RecordBatch]]:
    """Run benchload's generator and yield (table, batch) in its order; raise StreamBrokenError.

    Closing the iterator early stops the generator.
    """
    waiting: queue.Queue[tuple[str, pa.RecordBatch] | Exception | None] = queue.Queue(AHEAD)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=1 << 20,
        preexec_fn=die_with_parent(),  # noqa: PLW1509 - calls nothing but prctl
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        messages: deque[bytes] = deque(maxlen=8)
        stop = threading.Event()
        listener = threading.Thread(target=messages.extend, args=(process.stderr,), daemon=True)
        reader = threading.Thread(target=_read, args=(process.stdout, waiting, stop), daemon=True)
        listener.start()
        reader.start()
        try:
            while (found := waiting.get()) is not None and not isinstance(found, Exception):
                yield found
            # A generator that dies within a batch leaves a broken stream, and its exit code says why.
            code = None
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout=None if found is None else DYING_SECONDS)
            listener.join(timeout=5)
            if code:
                output = b" ".join(messages).decode(errors="replace").strip() or "no message"
                raise StreamBrokenError(f"benchload generate ended with code {code}: {output}")
            if found is not None:
                raise found
        finally:
            stop.set()
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            reader.join(timeout=5)


def stored(file: str, batch_rows: int) -> Generator[tuple[str, pa.RecordBatch]]:
    """Yield (table, batch) of a file in Arrow; its columns become known as those of its table."""
    with pa.memory_map(file) as held:
        table = pa.ipc.open_file(held).read_all()
        questions = content.of_schema(table.schema)
        add(questions)
        for first in range(0, table.num_rows, batch_rows):
            part = table.slice(first, batch_rows).combine_chunks()
            yield questions.tables[0], part.to_batches()[0]


def _read(
    stream: IO[bytes],
    waiting: queue.Queue[tuple[str, pa.RecordBatch] | Exception | None],
    stop: threading.Event,
) -> None:
    import pyarrow as pa

    def put(item: tuple[str, pa.RecordBatch] | Exception | None) -> None:
        while not stop.is_set():
            with contextlib.suppress(queue.Full):
                waiting.put(item, timeout=0.2)
                return

    try:
        file = pa.PythonFile(stream, "r")
        while not stop.is_set() and stream.peek(1):  # type: ignore[attr-defined]
            opened = pa.ipc.open_stream(file)
            table = (opened.schema.metadata or {}).get(b"table")
            if table is None:
                raise StreamBrokenError("a batch from benchload names no table")
            for batch in opened:
                put((table.decode(), batch))
        put(None)
    except StreamBrokenError as error:
        put(error)
    except (pa.ArrowException, OSError, ValueError) as error:
        put(StreamBrokenError(f"the stream from benchload is incomplete: {error}"))


@dataclass(frozen=True)
class Load:
    """A load request."""

    command: Sequence[str]
    """Benchload's generator, writing Arrow; with ``lasts_seconds`` it ends with its reader alone."""
    file: str | None
    """A file in Arrow with the rows of one table, in place of the generator."""
    batch_rows: int
    rows: int
    """Rows of the dataset."""
    timeout_seconds: float
    """For each batch."""
    lasts_seconds: float | None = None
    """For how long batches begin; None until the generator ends."""
    whole: bool = False
    """True if a load continues after ``lasts_seconds`` until the dataset is complete."""

    def is_over(self, recorder: Recorder, rows: int, tables: int) -> bool:
        """Return whether no batch follows those of so many tables that hold so many rows.

        The generator gives a batch of each table in turn, so the dataset is complete when each has had one more.
        """
        needed = self.rows + HELD_ROWS + self.batch_rows * tables if self.whole else 0
        return recorder.over() and rows >= needed


def load(
    engine: Engine, watchdog: Watchdog, asked: Load, program: str, emit: Emit, kept: Operations | None = None
) -> None:
    """Insert the generated batches; stop at the first refused batch, as benchload does.

    An operation is one batch, from the call of the engine until its commit; the first batch of a table creates it.
    Converting a batch to Python rows counts as load time but not as latency. Raise FailedError after the summary if a
    batch was refused, and StreamBrokenError if the generator fails.
    """
    emit(
        event(
            "start",
            workload="load",
            time_unix_ns=time.time_ns(),
            target=program.partition(" ")[0],
            workers=1,
            loop="closed",
            batch_rows=asked.batch_rows,
            program=program,
            **({} if asked.lasts_seconds else {"rows": asked.rows}),
        )
    )
    recorder = Recorder(emit, "write", kept, asked.lasts_seconds)
    refusal, stalled_ns, ended_ns = _insert_all(engine, watchdog, asked, recorder)
    summary = recorder.stop(ended_ns)
    summary["generator_stall_ns"] = stalled_ns
    if not asked.lasts_seconds:
        summary["rows_unsent"] = max(0, asked.rows - summary["rows"] - summary["rows_refused"])
    if stalled_ns * 2 > summary["duration_ns"]:
        summary["bottleneck"] = "generator"
    emit(event("summary", workload="load", **summary))
    if refusal is not None:
        raise FailedError(refusal)


def _insert_all(
    engine: Engine, watchdog: Watchdog, asked: Load, recorder: Recorder
) -> tuple[str | None, int, int]:
    """Return the words of the refusal that ended the load, if any, how long it waited for rows, and its end, in ns.

    The generator has ended too when this returns, so that its processor time is known.
    """
    source = stored(asked.file, asked.batch_rows) if asked.file else batches(asked.command)
    with contextlib.closing(source) as stream:
        refusal, stalled_ns = _insert(engine, watchdog, asked, recorder, stream)
        return refusal, stalled_ns, time.perf_counter_ns()


def _insert(
    engine: Engine,
    watchdog: Watchdog,
    asked: Load,
    recorder: Recorder,
    stream: Iterable[tuple[str, pa.RecordBatch]],
) -> tuple[str | None, int]:
    created: set[str] = set()
    rows_sent, stalled_ns, waiting_from_ns = 0, 0, time.perf_counter_ns()
    for table, batch in stream:
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
        recorder.done(began_ns, ended_ns, rows=batch.num_rows, values=_values(table, batch), size=size)
        rows_sent += batch.num_rows
        if asked.is_over(recorder, rows_sent, len(created)):
            break
        waiting_from_ns = time.perf_counter_ns()
    return None, stalled_ns


def _values(table: str, batch: pa.RecordBatch) -> int:
    """Return the number of non-null values in a batch's fields, without time and tags."""
    if found := declared(table):
        numbers = [batch.column(name) for name in found.numbers]
    else:
        numbers = [
            column
            for column in batch.columns
            if pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        ]
    return sum(batch.num_rows - int(column.null_count) for column in numbers)
