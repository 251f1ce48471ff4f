"""Common parts: datasets, timed commands and pairs of them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

IOT_ROWS_PER_SECOND = 100 * 2 * 0.9 / 10
"""Rows per second of the iot dataset at scale 100 and an interval of 10 s."""
DEVOPS_ROWS_PER_SECOND = 100 * 9 / 10


@dataclass(frozen=True)
class Run:
    """One run of a command."""

    wall: float
    cpu: float
    output: str


@dataclass
class Work:
    """A folder, the tool, and the amount of work."""

    folder: Path
    program: str
    """Path of benchload."""
    runs: int
    rows: int
    files: dict[str, Path] = field(default_factory=dict)

    @property
    def benchload(self) -> str:
        """Return benchload as a word of a shell command."""
        return shlex.quote(self.program)

    def iot_end(self, rows: int | None = None) -> str:
        """Return the end of an iot dataset of about ``rows`` rows."""
        return moment((rows or self.rows) / IOT_ROWS_PER_SECOND)

    def devops_end(self, rows: int | None = None) -> str:
        """Return the end of a devops dataset of about ``rows`` rows."""
        return moment((rows or self.rows) / DEVOPS_ROWS_PER_SECOND)

    def iot(self, rows: int | None = None) -> str:
        """Return benchload's arguments for the iot dataset."""
        return f"iot --seed 123 --scale 100 --start {moment(0)} --end {self.iot_end(rows)} --interval 10s"

    def devops(self, rows: int | None = None) -> str:
        """Return benchload's arguments for the devops dataset."""
        return f"devops --seed 4 --scale 100 --start {moment(0)} --end {self.devops_end(rows)} --interval 10s"

    def counted(self, dataset: str) -> tuple[int, int]:
        """Return rows and values of a dataset."""
        line = json.loads(run(f"{self.benchload} generate {dataset} --digest").output)
        return int(line["rows"]), int(line["values"])

    def file(self, name: str) -> str:
        """Return a file of the folder as a word of a shell command."""
        return shlex.quote(str(self.folder / name))

    def iot_file(self) -> tuple[str, str, int]:
        """Return the iot dataset as a file, the same with the line about its size, and its rows."""
        rows, values = self.counted(self.iot())
        plain, sized = self.file("iot"), self.file("iot-sized")
        if not (self.folder / "iot").exists():
            run(f"{self.benchload} generate {self.iot()} > {plain}")
            run(f"{{ cat {plain}; echo dataset-size:{rows},{values}; }} > {sized}")
        return plain, sized, rows

    @contextmanager
    def server(self, switches: str = "") -> Iterator[str]:
        """Yield the address of a null server that runs for the length of the block."""
        command = [self.program, "null-server", *switches.split()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            try:
                yield json.loads(running.stdout.readline())["url"]
            finally:
                running.terminate()


def moment(seconds: float) -> str:
    """Return a time after the start of the datasets, in the form that all tools accept."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1640995200 + round(seconds / 10) * 10))


def run(command: str, *, well: bool = True, **environment: str) -> Run:
    """Run a command of the shell; CPU is that of all processes that it started."""
    with subprocess.Popen(
        ["sh", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as running:
        began = time.perf_counter()
        assert running.stdout is not None
        assert running.stderr is not None
        output = running.stdout.read()
        words = running.stderr.read()
        _, status, used = os.wait4(running.pid, 0)
        wall = time.perf_counter() - began
        running.returncode = os.waitstatus_to_exitcode(status)
    if well and running.returncode != 0:
        raise SystemExit(f"{command} ended with {running.returncode}: {words[-400:]}")
    return Run(wall, used.ru_utime + used.ru_stime, output + words)


def paired(work: Work, ours: str, theirs: str | None, **environment: str) -> tuple[list[Run], list[Run]]:
    """Run two commands alternately; the second may be missing."""
    first, second = [], []
    for _ in range(work.runs):
        first.append(run(ours, **environment))
        if theirs is not None:
            second.append(run(theirs, **environment))
    return first, second


def middle(runs: list[Run], part: str) -> float:
    """Return the median of one part of some runs."""
    return median(float(getattr(one, part)) for one in runs)


def has(program: str) -> bool:
    """Return whether a program is on PATH."""
    return shutil.which(program) is not None


def received(url: str) -> int:
    """Return the number of rows that a null server has received."""
    with urllib.request.urlopen(f"{url}/count") as answer:
        return int(json.loads(answer.read())["rows"])
