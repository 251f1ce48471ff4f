"""Define when InfluxDB 1.x is settled, and bring it to that state.

**Settled** means, for the benchmark's database: the in-memory cache of every shard is empty, and no compaction has run
or waited for longer than one round of the server's planner. The server flushes a cache only after it has grown to 25
MB or been idle for 10 minutes, and a restart does not flush it either. Therefore the server's own tool flushes it
shard by shard: ``influxd backup -since`` a day in the far future flushes a cache and then copies nothing. If the
server cannot create the hard links that a backup needs, as on a mounted bucket, the tool retries for minutes although
the cache is flushed; then it is stopped. Full compactions, which the server starts after 4 hours without a write, are
not awaited.

A waiting compaction starts within a round. The server stops planning for an idle shard; if that happens between the
end of a compaction and the next plan, its counter of waiting compactions stays unchanged forever. Therefore
compactions that wait for ten rounds while none runs do not count as work.

For an external server the backup port is unknown: its caches may keep their content, and only compactions are awaited.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed
from benchbook.systems.driver import Place

SETTLE_SECONDS = 900.0
"""Time that compactions may take after a load before the trial fails."""
PLANNER_SECONDS = 1.0
"""Interval of the server's compaction planner; an idle server must stay idle for longer than one round."""
STALE_SECONDS = 10 * PLANNER_SECONDS
"""After this time, waiting compactions with none running are a stale counter."""
TOOL_SECONDS = 4.0
"""After this time the tool is stopped if the cache is flushed, else restarted with twice the time."""
FAR_FUTURE = "2200-01-01T00:00:00Z"

_LEVELS = ("tsmLevel1", "tsmLevel2", "tsmLevel3", "tsmFull", "tsmOptimize")
_RUNNING = ("cacheCompactionsActive", *(f"{level}CompactionsActive" for level in _LEVELS))
_WAITING = tuple(f"{level}CompactionQueue" for level in _LEVELS)
_DONE = ("cacheCompactions", *(f"{level}Compactions" for level in _LEVELS))

Statistics = Callable[[], list[dict[str, Any]]]
"""Returns the server's counters for the benchmark's database (``/debug/vars``)."""


def settle(statistics: Statistics, write_out: Callable[[], None] | None) -> float:
    """Wait until the server is settled; return for how many seconds it was only watched while idle.

    ``write_out`` flushes its caches; None if that is impossible, and the caches keep their content. Raise TrialFailed
    after SETTLE_SECONDS.
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    last, since = None, time.monotonic()
    while True:
        work = _work(statistics())
        if work.held and write_out is not None:
            write_out()
            work = _work(statistics())
        if write_out is None:
            work = replace(work, held=0)
        now = time.monotonic()
        if work != last:
            last, since = work, now
        rest = STALE_SECONDS if work.waiting else PLANNER_SECONDS * 1.1
        if now - since > rest and not (work.held or work.running):
            return now - since
        if now > deadline:
            raise TrialFailed(
                f"InfluxDB did not settle in {SETTLE_SECONDS:.0f} s: {work.held} bytes are left in its caches, "
                f"{work.running} compactions run and {work.waiting} wait."
            )
        time.sleep(0.1)


@dataclass(frozen=True)
class Work:
    """Remaining work of a server, by its own counters."""

    held: int = 0
    """Bytes in caches."""
    running: int = 0
    """Compactions."""
    waiting: int = 0
    """Compactions that the planner has found but not started."""
    done: int = 0
    """Compactions since the start; the server works while this changes."""


@dataclass(frozen=True)
class Shard:
    """One shard, as the server's counters identify it."""

    database: str
    policy: str
    number: str


def cached(statistics: list[dict[str, Any]]) -> list[Shard]:
    """Return the shards whose caches are not empty."""
    return [
        Shard(one["tags"]["database"], one["tags"]["retentionPolicy"], one["tags"]["id"])
        for one in statistics
        if one["name"] == "tsm1_cache" and _work([one]).held
    ]


def write_out(place: Place, rpc: str, shard: Shard, written: Callable[[], bool]) -> None:
    """Flush the cache of a shard on the server whose backup port is ``rpc`` (host:port).

    ``written`` returns whether that cache is empty.
    """
    folder = tempfile.mkdtemp(prefix="benchbook-empty-backup-")
    assert place.program.path is not None
    command: list[str | Path] = [
        place.program.path, "backup", "-portable", "-host", rpc, "-database", shard.database,
        "-retention", shard.policy, "-shard", shard.number, "-since", FAR_FUTURE, folder,
    ]  # fmt: skip
    limit = TOOL_SECONDS
    try:
        while True:
            try:
                ran = place.call(command, timeout_seconds=limit)
                break
            except subprocess.TimeoutExpired as error:
                if written():
                    return
                limit *= 2
                if limit > SETTLE_SECONDS:
                    raise TrialFailed(f"Could not flush InfluxDB's caches: {error}.") from error
    except OSError as error:
        raise TrialFailed(f"Could not flush InfluxDB's caches: {error}.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if ran.returncode != 0:
        output = " ".join((ran.stderr or ran.stdout).split())[-500:]
        raise TrialFailed(f"Could not flush InfluxDB's caches: {output}")


def _work(statistics: list[dict[str, Any]]) -> Work:
    """Add up the counters of all shards."""
    total = Work()
    for one in statistics:
        values = one["values"]
        if one["name"] == "tsm1_cache":
            held = int(values.get("memBytes", 0)) + int(values.get("snapshotCount", 0))
            total = replace(total, held=total.held + held)
        elif one["name"] == "tsm1_engine":
            running, waiting, done = (
                sum(int(values.get(key, 0)) for key in keys) for keys in (_RUNNING, _WAITING, _DONE)
            )
            total = Work(total.held, total.running + running, total.waiting + waiting, total.done + done)
    return total
