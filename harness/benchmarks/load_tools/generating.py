"""Measure generation: rows per processor second on one core, and the gain of a second core."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from statistics import median

from table import Line, versus
from work import Run, Work, has, middle, moment, paired, run

ONE_CORE = {"GOMAXPROCS": "1"}


def lines(work: Work) -> Iterator[Line]:
    """Compare with the generators of the suites."""
    devops = (
        f"bulk_data_gen -use-case devops -format influx-bulk -seed 4 -scale-var 100 -sampling-interval 10s "
        f"-timestamp-start {moment(0)} -timestamp-end {work.devops_end()}"
    )
    yield _line(work, "devops", work.devops(), "bulk_data_gen", devops, 3)
    for program in ("generate_data", "tsbs_generate_data"):
        iot = (
            f"{program} --use-case iot --format influx --seed 123 --scale 100 --log-interval 10s "
            f"--timestamp-start {moment(0)} --timestamp-end {work.iot_end()}"
        )
        yield _line(work, "iot", work.iot(), program, iot, 8)


def _line(work: Work, name: str, dataset: str, program: str, theirs: str, target: float) -> Line:
    there = has(program)
    rows, _ = work.counted(dataset)
    ours_runs, peer_runs = paired(
        work,
        f"{work.benchload} generate {dataset} > /dev/null",
        f"{theirs} > /dev/null 2>&1" if there else None,
        **ONE_CORE,
    )
    peer = (
        int(run(f"{theirs} 2>/dev/null | wc -l", **ONE_CORE).output) / middle(peer_runs, "cpu")
        if there
        else None
    )
    ours = rows / middle(ours_runs, "cpu")
    return versus(f"generate {name}, one core", "rows/CPU-s", ours, program, peer, target)


def cores(work: Work) -> Iterator[Line]:
    """Compare two cores with one, by wall time; both must give the same bytes.

    Two processes of one core each share nothing: what they do together is what this machine's second core can add.
    Each ratio is the median of those of the rounds, as the speed of a virtual machine changes from round to round.
    """
    # Enough rows for two seconds or more, so that the start of a process does not matter.
    for name, dataset in (
        ("devops", work.devops(12 * work.rows)),
        ("iot", work.iot(12 * work.rows)),
    ):
        command = f"{work.benchload} generate {dataset}"
        runs: dict[str, list[Run]] = {"1": [], "2": []}
        apart: list[Run] = []
        for _ in range(work.runs):
            for count, found in runs.items():
                found.append(run(f"{command} > /dev/null", GOMAXPROCS=count))
            apart.append(run(f"{command} > /dev/null & {command} > /dev/null & wait", **ONE_CORE))
        same = _digest(command, "1") == _digest(command, "2")
        one, two = middle(runs["1"], "wall"), middle(runs["2"], "wall")
        ratio = median(first.wall / second.wall for first, second in zip(runs["1"], runs["2"], strict=True))
        most = median(2 * first.wall / both.wall for first, both in zip(runs["1"], apart, strict=True))
        yield Line(
            f"generate {name} on 2 cores",
            f"{two:.3f} s",
            f"own on one {one:.3f} s; two processes {most:.2f}x" + ("" if same else "; other bytes"),
            f"{ratio:.2f}x",
            "≥ 1.8x, same bytes",
            ratio >= 1.8 and same,
        )


def _digest(command: str, count: str) -> str:
    digest = hashlib.sha256()
    with subprocess.Popen(
        ["sh", "-c", command], stdout=subprocess.PIPE, env={**os.environ, "GOMAXPROCS": count}
    ) as running:
        assert running.stdout is not None
        while part := running.stdout.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()
