"""When InfluxDB 1.x is settled, and how it is brought there.

**Settled** means, for the benchmark's database: nothing is left in the in-memory cache of any shard, and no
compaction has run or waited for longer than one round of the server's planner. The server itself writes a
cache out only when it has grown to 25 MB or rested for 10 minutes, and a restart does not write it out either,
so it is asked to with its own tool, shard by shard: ``influxd backup -since`` a day in the far future writes a
cache out and then copies nothing. Where the server cannot make the hard links that a backup needs, as on a
mounted bucket, that tool tries again for minutes although the cache is written out: it is ended then. Full
compactions, which the server starts after 4 hours without a write, are not waited for.

A compaction that waits is begun within a round. The server stops planning for a shard that it finds idle, and where
that comes between a compaction's end and the next plan, its counter of waiting ones stays as it was for ever. So what
waits and is not begun for ten rounds, while nothing runs, is no work.

On a server that the harness did not start, the backup port is unknown: there the cache may keep what it holds, and
only compactions are waited for.
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
"""How long compactions may take after a load before the trial fails."""
PLANNER_SECONDS = 1.0
"""Interval of the server's compaction planner: rest is only believed when it outlasts one round."""
STALE_SECONDS = 10 * PLANNER_SECONDS
"""After this, compactions that wait while none runs are what the counter was left at."""
TOOL_SECONDS = 4.0
"""After this the tool is ended where the cache is written out, else begun anew with twice the time."""
FAR_FUTURE = "2200-01-01T00:00:00Z"

_LEVELS = ("tsmLevel1", "tsmLevel2", "tsmLevel3", "tsmFull", "tsmOptimize")
_RUNNING = ("cacheCompactionsActive", *(f"{level}CompactionsActive" for level in _LEVELS))
_WAITING = tuple(f"{level}CompactionQueue" for level in _LEVELS)
_DONE = ("cacheCompactions", *(f"{level}Compactions" for level in _LEVELS))

Statistics = Callable[[], list[dict[str, Any]]]
"""Returns the server's counters of the benchmark's database (``/debug/vars``)."""


def settle(statistics: Statistics, write_out: Callable[[], None] | None) -> float:
    """Return when the server is settled; the result is for how many seconds it was only watched resting.

    ``write_out`` makes it write its caches out; None where that is not possible, and what they hold is left.
    Raises TrialFailed after SETTLE_SECONDS.
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
    """What a server still has to do, by its own counters."""

    held: int = 0
    """Bytes in caches."""
    running: int = 0
    """Compactions."""
    waiting: int = 0
    """Compactions that the planner has found."""
    done: int = 0
    """Compactions since the start: where this changes, the server works."""


@dataclass(frozen=True)
class Shard:
    """One shard, as the server's counters name it."""

    database: str
    policy: str
    number: str


def cached(statistics: list[dict[str, Any]]) -> list[Shard]:
    """Return the shards whose caches hold something."""
    return [
        Shard(one["tags"]["database"], one["tags"]["retentionPolicy"], one["tags"]["id"])
        for one in statistics
        if one["name"] == "tsm1_cache" and _work([one]).held
    ]


def write_out(place: Place, rpc: str, shard: Shard, written: Callable[[], bool]) -> None:
    """Make the server whose backup port is ``rpc`` (host:port) write the cache of a shard out.

    ``written`` says whether that cache holds nothing any more.
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
                    raise TrialFailed(f"InfluxDB's caches could not be written out: {error}.") from error
    except OSError as error:
        raise TrialFailed(f"InfluxDB's caches could not be written out: {error}.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if ran.returncode != 0:
        words = " ".join((ran.stderr or ran.stdout).split())[-500:]
        raise TrialFailed(f"InfluxDB's caches could not be written out: {words}")


def _work(statistics: list[dict[str, Any]]) -> Work:
    """Add up the counters of every shard."""
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
