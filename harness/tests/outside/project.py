"""A project of its own for each reproduction: its declarations, servers, results and what a run of it came to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchbook.analyse.run import Run, open_run
from benchbook.declare.system import System
from benchbook.errors import Unavailable
from benchbook.host.identity import identity
from benchbook.process.network import free_ports
from benchbook.process.spawn import find_benchload
from benchbook.process.wait import until
from benchbook.provision.find import find
from benchbook.provision.request import Request
from tests.live.bench import begin, rows

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent
INFLUX, OTHER = "influxdb-1.8.10", "influxdb-b"
HEAD = """
title = "{name}"
question = "What does a run of {name} show?"
dataset = "{dataset}"
[factors]
system = [{systems}]
{factors}
"""
TAIL = """
[profiles.smoke]
trials = {trials}
trial_seconds = 5
dataset = {{ {size} }}
"""
PHASE = """
[[phases]]
name = "{name}"
workload = "{workload}"
options = {{ {options} }}
"""
LOAD = ("load", "load", "batch_size = 500, workers = 1")


class Project:
    """A folder of declarations and a folder of results, in which one experiment runs."""

    def __init__(self, folder: Path) -> None:
        """Copy what every experiment needs; a run takes minutes of a processor, and the copy a second."""
        self.folder, self.root, self.results = folder, folder / "project", folder / "results"
        for part in ("benchload", "datasets", "docs", "storage", "systems", "experiments/quickstart"):
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, self.root / part)
        same = (self.root / "systems" / f"{INFLUX}.toml").read_text().replace(INFLUX, OTHER)
        (self.root / "systems" / f"{OTHER}.toml").write_text(same)
        os.environ["BENCHBOOK_BENCHLOAD"] = str(find_benchload())
        os.environ["BENCHBOOK_ROOT"] = str(self.root)
        self._started: list[subprocess.Popen[bytes]] = []

    def declare(
        self,
        name: str,
        systems: Sequence[str],
        *phases: tuple[str, str, str],
        trials: int = 3,
        factors: str = "",
        size: str = 'scale = 8, end = "2016-01-01T13:00:00Z", interval = "60s"',
    ) -> None:
        """Write an experiment with phases of (name, workload, options)."""
        listed = ", ".join(f'"{one}"' for one in systems)
        text = HEAD.format(name=name, dataset="devops", systems=listed, factors=factors)
        text += "".join(PHASE.format(name=one, workload=kind, options=held) for one, kind, held in phases)
        folder = self.root / "experiments" / name
        folder.mkdir(parents=True)
        (folder / "experiment.toml").write_text(text + TAIL.format(trials=trials, size=size))

    def start(self, name: str, *arguments: str) -> subprocess.Popen[str]:
        """Begin to run an experiment, without its report."""
        return begin(
            "run",
            name,
            "--profile",
            "smoke",
            "--yes",
            "--results",
            str(self.results),
            *arguments,
            report=False,
        )

    def run(self, name: str, *arguments: str) -> None:
        """Run an experiment; trials may fail. Raise Unavailable if one was skipped."""
        with self.start(name, *arguments) as process:
            _, said = process.communicate(timeout=900)
        assert (self.results / "runs").is_dir(), said
        skipped = [str(one["reason"]) for one in self.trials() if one["status"] == "skipped"]
        if skipped:
            raise Unavailable(skipped[0])

    def trials(self) -> list[dict[str, Any]]:
        """Return the trials in order."""
        return rows(self.results, 'select * from trials order by "index"')

    def values(self, metric: str, phase: str) -> list[float]:
        """Return a metric of the valid trials, in order."""
        text = "select value from measurements join trials using (trial_id) where status = 'ok' and metric = '{}' "
        found = rows(self.results, text.format(metric) + f"and phase = '{phase}' order by \"index\"")
        return [float(one["value"]) for one in found]

    def analysed(self) -> Run:
        """Return the run as pages read it."""
        [run_id] = [one.name for one in (self.results / "runs").iterdir()]
        return open_run(self.results, run_id)

    def influxd(self) -> Path:
        """Return the program of InfluxDB; raise Unavailable if there is none."""
        declared = System.model_validate(
            tomllib.loads((self.root / "systems" / f"{INFLUX}.toml").read_text())
        )
        path = find(declared, Request()).path
        assert path is not None
        return path

    def script(self, name: str) -> Path:
        """Return a start script beside this file, made to start the real server and to write its pids here."""
        text = (HERE / name).read_text().replace("@INFLUXD@", str(self.influxd()))
        made = self.folder / name
        made.write_text(text.replace("@PIDS@", str(self.folder / "pids")))
        made.chmod(0o755)
        return made

    def left_running(self) -> list[int]:
        """Return the processes that a start script noted and that still run."""
        noted = (self.folder / "pids").read_text().split() if (self.folder / "pids").exists() else []
        return [int(pid) for pid in noted if identity(int(pid)) is not None]

    def server(self) -> int:
        """Start an InfluxDB that stays; return its port."""
        port, internal = free_ports(2)
        config = self.folder / "influxdb.conf"
        folders = {part: self.folder / "influx" / part for part in ("meta", "data", "wal")}
        config.write_text(
            f'reporting-disabled = true\nbind-address = "127.0.0.1:{internal}"\n[meta]\ndir = "{folders["meta"]}"\n'
            f'[data]\ndir = "{folders["data"]}"\nwal-dir = "{folders["wal"]}"\n'
            f'[http]\nbind-address = "127.0.0.1:{port}"\nlog-enabled = false\n'
        )
        self._begin([self.influxd(), "run", "-config", config], port)
        return port

    def stand_in(self, upstream: int, *options: str) -> str:
        """Start a proxy before a server; return its address."""
        [port] = free_ports(1)
        self._begin([sys.executable, HERE / "stand_in.py", port, upstream, *options], port)
        return f"http://127.0.0.1:{port}"

    def _begin(self, command: Sequence[object], port: int) -> None:
        with (self.folder / "servers.log").open("ab") as log:
            self._started.append(subprocess.Popen(list(map(str, command)), stdout=log, stderr=log))
        assert until(lambda: _listens(port), 60), f"{command} does not listen; see {self.folder}/servers.log"

    def close(self) -> None:
        """End what was started."""
        for process in self._started:
            process.kill()
            process.wait()


def _listens(port: int) -> bool:
    import socket

    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def project(folder: Path) -> Iterator[Project]:
    """Make a project for the length of a ``with`` block."""
    made, before = Project(folder), os.environ.get("BENCHBOOK_ROOT")
    try:
        yield made
    finally:
        made.close()
        if before is None:
            os.environ.pop("BENCHBOOK_ROOT", None)
        else:
            os.environ["BENCHBOOK_ROOT"] = before
