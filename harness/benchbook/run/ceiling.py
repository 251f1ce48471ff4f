"""The client's ceiling: what benchload reaches alone, on the cores that trials use.

Rows are loaded into a server that discards them, and queries are asked of a server that answers at once; both speak
InfluxDB's protocol. The batches of other protocols are generated and encoded, but not sent. Objects and bars go to a
store inside benchload. The last two show the client's work without a connection.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.declare.dataset import Dataset
from benchbook.declare.experiment import limits
from benchbook.declare.workload import workloads
from benchbook.errors import BenchbookError
from benchbook.plan.plan import PlannedTrial, trial_dataset
from benchbook.process import spawn
from benchbook.process.confinement import Confinement, confine
from benchbook.process.launch import Program
from benchbook.run.benchload import Calibration, calibrate
from benchbook.run.confined import Cores, cores_of

if TYPE_CHECKING:
    from benchbook.run.context import Context

SECONDS = 5.0
"""Length of each measurement; a run with profile smoke does each operation once, because it decides nothing."""
NULL_SERVER = "null server"
DATABASE = "calibrate"


@dataclass
class Alone:
    """A command of benchload without a system under test."""

    arguments: tuple[str, ...]
    served: bool
    """Whether a null server answers it; else benchload needs no server."""
    about: dict[str, Any] = field(default_factory=dict)
    """What its record in ``run.json`` says, beside the summary."""
    calibration: Calibration | None = None
    """The same as a load into a null server, which the clients of a cluster can do."""
    may_fail: bool = False
    """Whether a failure means only that the protocol cannot take the dataset, which the trials say too."""


def ceiling(context: Context, dataset: Dataset) -> list[dict[str, Any]]:
    """Return the summaries of benchload alone, one for each kind of load or phase and each choice of cores.

    Empty for embedded systems, which share the client's process, and where benchload is not the client. A cluster's
    clients are measured with loads only.
    """
    plan = context.plan
    if dataset.typed().by_worker or all(context.system(name).embedded for name in plan.systems()):
        return []
    context.observer.note("measuring the client's ceiling")
    asked = [one for workload in workloads().values() for one in workload.alone(context, dataset)]
    if context.cluster:
        return [
            {**event, **one.about} for one in asked if one.calibration
            for event in context.cluster.on_client(calibrate, plan.experiment, dataset, one.calibration)
        ]  # fmt: skip
    return [
        {**event, **one.about} for one in asked for cores in _pairs(context)
        for event in _measured(context, one, cores)
    ]  # fmt: skip


def lasting_seconds(context: Context) -> float | None:
    """Return the length of a measurement; None if each operation is done once."""
    return None if context.plan.profile == "smoke" else SECONDS


def of_phases(
    context: Context, workload: str, of: Callable[[Dataset, PlannedTrial, Any], Alone | None]
) -> list[Alone]:
    """Return each different command of a workload's closed-loop phases, with the names of its cells.

    ``of`` returns the command of a trial's phase without its duration; None if benchload alone cannot do it.
    """
    found: dict[tuple[str, tuple[str, ...]], Alone] = {}
    lasts = lasting_seconds(context)
    for trial in context.plan.trials:
        if context.system(str(trial.levels["system"])).embedded:
            continue
        for phase in context.plan.phases:
            options = phase.replaced(trial.levels)
            if phase.workload != workload or getattr(options, "rate", 0) > 0:
                continue
            one = of(trial_dataset(context.plan, trial.levels), trial, options)
            if one is None:
                continue
            one.arguments += (f"--duration={lasts:g}s",) if lasts else ()
            one.about = {"phase": phase.name, **one.about, "cells": []}
            kept = found.setdefault((one.about["phase"], one.arguments), one)
            if trial.cell not in kept.about["cells"]:
                kept.about["cells"].append(trial.cell)
    return list(found.values())


def _pairs(context: Context) -> list[Cores | None]:
    """Return the distinct pairs of server and client cores among the plan's trials; None means all cores."""
    found: dict[Cores | None, None] = {}
    for trial in context.plan.trials:
        system = context.system(str(trial.levels["system"]))
        program = context.programs.get(trial.program)
        if not system.embedded:
            known = program if isinstance(program, Program) else Program(system.name, system.version, "none")
            found[cores_of(limits(trial.levels), known, embedded=False)[0]] = None
    return list(found)


def _measured(context: Context, asked: Alone, cores: Cores | None) -> list[dict[str, Any]]:
    """Return the summaries of a command; none if it failed and may."""
    try:
        return _run(context, asked, cores)
    except BenchbookError:
        if asked.may_fail:
            return []
        raise


def _run(context: Context, asked: Alone, cores: Cores | None) -> list[dict[str, Any]]:
    """Run a command of benchload, and a null server if it needs one, each on its cores; return its summaries."""
    server_cores, client_cores = cores or (None, None)
    with ExitStack() as ended, tempfile.TemporaryDirectory(dir=context.scratch) as name:
        log = Path(name) / "log"
        target = []
        if asked.served:
            server = ended.enter_context(_started(context, ["null-server"], NULL_SERVER, log, server_cores))
            url = json.loads(next(server.lines(), b"{}")).get("url")
            if not url:
                raise BenchbookError(f"The null server did not report its address: {spawn.log_end(log)}")
            target = ["--target", "influx", "--url", url, "--database", DATABASE]
        client = ended.enter_context(
            _started(context, [*asked.arguments, *target], "benchload", log, client_cores)
        )
        events = [json.loads(line) for line in client.lines()]
        summaries = [event for event in events if event.get("type") == "summary"]
        if not summaries:
            raise BenchbookError(
                "Could not measure the client's highest rate on this machine: benchload ended without a summary. "
                f"The end of its output: {spawn.log_end(log)}"
            )
    placement = {
        "server_cores": sorted(server_cores) if server_cores else None,
        "client_cores": sorted(client_cores) if client_cores else None,
    }
    return [{**summary, **placement} for summary in summaries]


@contextmanager
def _started(
    context: Context, arguments: list[str], name: str, log: Path, cores: frozenset[int] | None
) -> Iterator[spawn.Running]:
    """Start a command of benchload on some cores; stop it at the end."""
    with confine(Confinement(cores=cores)):
        running = spawn.start(
            [context.benchload, *arguments],
            name=name,
            log=log,
            pipes=True,
            registry=context.results / "processes",
        )
    try:
        yield running
    finally:
        running.stop()
