"""Single operations of an embedded engine, in the file that ``benchload --record-operations`` writes of servers.

Times go into memory that was allocated beforehand; a thread of its own writes it, block by block. The file has its
name when it is whole, so a killed worker leaves none.
"""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_OPERATIONS = 32_768
NUMBERS = ("worker", "intended_ns", "start_ns", "end_ns", "rows")
OK = "ok"


class _Block:
    """Memory for operations of one kind."""

    def __init__(self) -> None:
        self.numbers = tuple(array("q", bytes(8 * BLOCK_OPERATIONS)) for _ in NUMBERS)
        self.statuses = array("i", bytes(4 * BLOCK_OPERATIONS))
        self.count = 0
        self.operation = ""
        self.written: Future[None] | None = None


class Operations:
    """Keeps operations; ``close`` ends the file. One thread at a time may use it."""

    def __init__(self, path: Path) -> None:
        """Begin the file at ``path``."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        fields = [
            pa.field("operation", pa.string(), nullable=False),
            *(pa.field(name, pa.int64(), nullable=False) for name in NUMBERS),
            pa.field("status", pa.string(), nullable=False),
        ]
        self._schema = pa.schema(fields)
        self._writer = pq.ParquetWriter(self._part, self._schema)
        self._thread = ThreadPoolExecutor(1)
        self._blocks = [_Block(), _Block()]
        self._status_codes = {OK: 0}
        self._origin_ns: int | None = None

    def begin(self, now_ns: int) -> None:
        """Set the origin of all times, on ``time.perf_counter_ns``; only the first call counts."""
        if self._origin_ns is None:
            self._origin_ns = now_ns

    def add(
        self, operation: str, began_ns: int, ended_ns: int, rows: int, status: str = OK, worker: int = 0
    ) -> None:
        """Keep one operation; the loop is closed, so it should have begun when it did."""
        block = self._blocks[0]
        if block.count == BLOCK_OPERATIONS or (block.count and block.operation != operation):
            block = self._next()
        code = self._status_codes.setdefault(status, len(self._status_codes))
        place, start = block.count, began_ns - (self._origin_ns or 0)
        block.operation = operation
        workers, intended, starts, ends, counts = block.numbers
        workers[place], counts[place], block.statuses[place] = worker, rows, code
        intended[place] = starts[place] = start
        ends[place] = start + ended_ns - began_ns
        block.count = place + 1

    def close(self) -> None:
        """Write the rest and give the file its name."""
        try:
            self._next()
            for block in self._blocks:
                if block.written is not None:
                    block.written.result()
        finally:
            self._thread.shutdown()
            self._writer.close()
        self._part.rename(self._path)

    def _next(self) -> _Block:
        """Hand the block over to the writer, and return the other one when it is free."""
        full, free = self._blocks
        if full.count:
            full.written = self._thread.submit(self._write, full, list(self._status_codes))
        if free.written is not None:
            free.written.result()
        self._blocks = [free, full]
        return free

    def _write(self, block: _Block, statuses: list[str]) -> None:
        import pyarrow as pa

        count = block.count
        columns: list[pa.Array] = [pa.repeat(block.operation, count)]
        for numbers in block.numbers:
            columns.append(pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(numbers)]))
        codes = pa.Array.from_buffers(pa.int32(), count, [None, pa.py_buffer(block.statuses)])
        columns.append(pa.array(statuses).take(codes))
        self._writer.write_table(pa.table(columns, schema=self._schema))
        block.count = 0


@contextlib.contextmanager
def recording(path: str | None) -> Iterator[Operations | None]:
    """Give what keeps single operations in the file at ``path``, or None where none is asked for."""
    if path is None:
        yield None
        return
    kept = Operations(Path(path))
    try:
        yield kept
    finally:
        kept.close()
