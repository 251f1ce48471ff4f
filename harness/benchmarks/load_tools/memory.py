"""Measure memory: the largest anonymous memory of the client while it generates and loads, at two scales."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from table import Line
from work import Work, moment

LIMIT_MB = 200


def lines(work: Work) -> Iterator[Line]:
    """Measure a small and a large fleet; the large one has 100,000 trucks."""
    with work.server() as url:
        for name, verb in (
            ("generate", "generate {dataset}"),
            ("load on the fly", f"load {{dataset}} --target influx --url {url} --append --workers 8"),
            (
                "load on the fly, gzip",
                f"load {{dataset}} --target influx --url {url} --append --workers 8 --gzip",
            ),
        ):
            peaks = []
            for scale, seconds in ((100, work.rows / 18), (100_000, work.rows / 18_000)):
                dataset = f"iot --seed 1 --scale {scale} --start {moment(0)} --end {moment(max(seconds, 10))} --interval 10s"
                peaks.append(_peak([work.program, *shlex.split(verb.format(dataset=dataset))]))
            yield Line(
                f"anonymous memory, {name}", f"{peaks[0]:.0f} MB at 100 trucks, {peaks[1]:.0f} MB at 100,000", "",
                "", f"< {LIMIT_MB} MB", max(peaks) < LIMIT_MB,
            )  # fmt: skip


def _peak(command: list[str]) -> float:
    """Run a command and return its largest sampled RssAnon, in MB."""
    largest = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        status = Path(f"/proc/{running.pid}/status")
        while running.poll() is None:
            with contextlib.suppress(OSError, IndexError, ValueError):
                text = status.read_text().partition("RssAnon:")[2]
                largest = max(largest, int(text.split()[0]))
            time.sleep(0.005)
    return largest / 1024
