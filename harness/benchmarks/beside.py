"""Compare pairs of equal commands with hyperfine and with ``bench vs``, while a load of the machine comes and goes.

    cd harness && PYTHONPATH=. python benchmarks/beside.py [PAIRS]

Writes the table of docs/vs.md. Interrupted, it writes the table of the pairs until then.
"""

from __future__ import annotations

import contextlib
import json
import math
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, stdev

from benchbook.cli.vs import compare
from benchbook.run.interleaved import Asked, Command, measure
from benchmarks.power import METHODS, write

PAGE = METHODS.with_name("vs.md")
PAIRS = 100
ALPHA = 0.05
PERIOD_SECONDS = 1.5
"""Mean length of a time with load and of one without, which have an exponential distribution."""
RUNS = 100
"""Runs of each command by hyperfine. ``bench vs`` gets the time that these take."""
FILE_BYTES = 100_000


@dataclass(frozen=True)
class Found:
    """What a tool found on a pair of equal commands."""

    ratio: float
    alarm: bool
    """True if it says that they differ."""


def loaded(seed: int) -> None:
    """Keep a core busy and idle in turn, for random times; all processes with one seed do so together."""
    chance = random.Random(seed)
    began = change = time.monotonic()
    busy = False
    while True:
        busy, change = not busy, change + chance.expovariate(1 / PERIOD_SECONDS)
        while (left := change - time.monotonic()) > 0:
            if busy:
                sum(range(10_000))
            else:
                time.sleep(left)
        if time.monotonic() - began > 3 * 3600:  # nobody waits for it any more
            return


@contextlib.contextmanager
def load(seed: int) -> Iterator[None]:
    """Put a load that comes and goes on each core in the ``with`` block."""
    spawned = multiprocessing.get_context("spawn")
    held = [spawned.Process(target=loaded, args=(seed,), daemon=True) for _ in os.sched_getaffinity(0)]
    for one in held:
        one.start()
    try:
        yield
    finally:
        for one in held:
            one.terminate()
            one.join()


def welch(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the p-value of Welch's t-test, which hyperfine's script ``welch_ttest.py`` applies to its runs.

    >>> round(welch([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]), 3)
    0.288
    """
    from scipy.special import stdtr

    ours, theirs = stdev(a) ** 2 / len(a), stdev(b) ** 2 / len(b)
    freedom = (ours + theirs) ** 2 / (ours**2 / (len(a) - 1) + theirs**2 / (len(b) - 1))
    return float(2 * stdtr(freedom, -abs(mean(a) - mean(b)) / math.sqrt(ours + theirs)))


def by_hyperfine(words: str, scratch: Path) -> tuple[Found, Found, float]:
    """Return what hyperfine found: by Welch's test, by its printed error of the ratio, and the seconds that it took."""
    stated = scratch / "hyperfine.json"
    began = time.monotonic()
    subprocess.run(
        ["hyperfine", "--shell=none", "--style=none", "--warmup=1", f"--runs={RUNS}", f"--export-json={stated}", words,
         words],
        check=True, capture_output=True,
    )  # fmt: skip
    took = time.monotonic() - began
    one, other = (held["times"] for held in json.loads(stated.read_text())["results"])
    slow, fast = sorted((one, other), key=mean, reverse=True)
    ratio = mean(slow) / mean(fast)
    error = ratio * math.hypot(stdev(slow) / mean(slow), stdev(fast) / mean(fast))  # as it prints "± error"
    return Found(ratio, welch(one, other) < ALPHA), Found(ratio, ratio - error > 1), took


def by_vs(words: str, seconds: float, seed: int) -> Found:
    """Return what ``bench vs`` found in the same time."""
    equal = Command(words, words.split())
    [(one, differs)] = compare(measure(Asked([equal, equal], seconds, order_seed=seed)))
    assert one.value is not None
    return Found(max(one.value, 1 / one.value), differs)


def table(found: Sequence[tuple[Found, Found, Found]]) -> list[str]:
    """Return the rows: false alarms, and the ratios of equal commands.

    >>> one = Found(1.1, True)
    >>> table([(one, one, one), (Found(1.3, False),) * 3])[0]
    "| hyperfine, Welch's t-test at 5 % | 1 of 2 | 1.20 | 1.30 |"
    """
    names = ("hyperfine, Welch's t-test at 5 %", "hyperfine, its ratio ± error excludes 1", "`./bench vs`")
    return [
        f"| {name} | {sum(one.alarm for one in held)} of {len(held)} | "
        f"{median(one.ratio for one in held):.2f} | {max(one.ratio for one in held):.2f} |"
        for name, held in zip(names, zip(*found, strict=True), strict=True)
    ]


def pairs(number: int, words: str, scratch: Path) -> list[tuple[Found, Found, Found]]:
    """Return what both tools found on each pair, one tool after the other, each first in every second pair."""
    found: list[tuple[Found, Found, Found]] = []
    *_, usual = by_hyperfine(words, scratch)
    with contextlib.suppress(KeyboardInterrupt):
        for place in range(number):
            ours = by_vs(words, usual, place) if place % 2 else None
            tested, printed, usual = by_hyperfine(words, scratch)
            found.append((tested, printed, ours or by_vs(words, usual, place)))
            print(f"{place + 1}: {usual:.1f} s, {[one.alarm for one in found[-1]]}", flush=True)
    return found


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    with tempfile.TemporaryDirectory() as folder, load(seed=54):
        scratch = Path(folder)
        file = scratch / "file"
        file.write_bytes(random.Random(54).randbytes(FILE_BYTES))
        found = pairs(number, f"gzip -c {file}", scratch)
    write(
        PAGE, "equal pairs", ["tool", "false alarms", "median ratio", "largest ratio"], table(found), "beside"
    )


if __name__ == "__main__":
    main()
