"""What benchload stores in Redis and Kvrocks, counted: packed days of bars (hashes) and objects (strings)."""

from __future__ import annotations

from typing import Any

from benchbook.systems.driver import TableCount

BAR_BYTES = 28
"""One bar in a packed day; the layout is described in ``harness/benchload/packedday``."""
BAR_FIELDS = ("open", "close", "high", "low", "volume", "amount", "turn")
BATCH_KEYS = 500


def count(connection: Any) -> dict[str, TableCount]:
    """Return the bars of the packed days as the table ``finance``, and the strings as ``objects``."""
    bars = objects = 0
    for keys in _batches(connection):
        pipe = connection.pipeline(transaction=False)
        for key in keys:
            pipe.type(key)
        kinds = pipe.execute()
        objects += sum(1 for kind in kinds if kind == b"string")
        for key, kind in zip(keys, kinds, strict=True):
            if kind == b"hash":
                bars += _bars(connection, key)
    found = {"finance": TableCount(bars, dict.fromkeys(BAR_FIELDS, bars))} if bars else {}
    return found | ({"objects": TableCount(objects)} if objects else {})


def _bars(connection: Any, key: bytes) -> int:
    total, fields = 0, connection.hkeys(key)
    for first in range(0, len(fields), 10_000):
        pipe = connection.pipeline(transaction=False)
        for field in fields[first : first + 10_000]:
            pipe.hstrlen(key, field)
        total += sum(pipe.execute())
    return total // BAR_BYTES


def _batches(connection: Any) -> Any:
    batch: list[bytes] = []
    for key in connection.scan_iter(count=BATCH_KEYS):
        batch.append(key)
        if len(batch) == BATCH_KEYS:
            yield batch
            batch = []
    if batch:
        yield batch
