"""Measure the client's ceiling: the same load into a server that discards it, on the cores that trials use.

If server and client of a trial have separate cores, so have the null server and benchload here. With all cores of the
machine the client would reach more than it can reach in a trial.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from benchbook.declare.dataset import Dataset
from benchbook.declare.experiment import limits
from benchbook.declare.workload import LoadOptions
from benchbook.errors import BenchbookError
from benchbook.plan.plan import phase_options
from benchbook.process import spawn
from benchbook.process.confinement import Confinement, confine
from benchbook.process.launch import Program
from benchbook.run.benchload import calibrate, calibrate_here
from benchbook.run.confined import Cores, cores_of
from benchbook.run.context import Context, program_name

NULL_SERVER = "null server"
DATABASE = "calibrate"


def ceiling(context: Context, dataset: Dataset) -> list[dict[str, Any]]:
    """Return summaries of loads into a null server; empty for embedded systems, which share the client's process."""
    plan = context.plan
    if all(context.system(name).embedded for name in plan.systems()) or dataset.generator == "blob":
        return []  # for objects, the file system's row shows the client's limit
    loads = [options for phase in plan.phases if isinstance(options := phase_options(phase, {}), LoadOptions)]
    options = loads[0] if loads else LoadOptions()
    context.observer.note("measuring the client's ceiling against a null server")
    asked = (dataset, options.batch_size, options.workers)
    if context.cluster:
        found: list[dict[str, Any]] = context.cluster.on_client(calibrate_here, *asked)
        return found
    events = []
    for cores in _pairs(context):
        ran = _pinned(context, *asked, cores) if cores else calibrate(context.benchload, *asked)
        server, client = cores or (None, None)
        placement = {"server_cores": sorted(server) if server else None,
                "client_cores": sorted(client) if client else None}  # fmt: skip
        events += [{**event, **placement} for event in ran]
    return events


def _pairs(context: Context) -> list[Cores | None]:
    """Return the distinct pairs of server and client cores among the plan's trials; None means all cores."""
    found: dict[Cores | None, None] = {}
    for trial in context.plan.trials:
        system = context.system(str(trial.levels["system"]))
        program = context.programs.get(program_name(trial))
        if not system.embedded:
            known = program if isinstance(program, Program) else Program(system.name, system.version, "none")
            found[cores_of(limits(trial.levels), known, embedded=False)[0]] = None
    return list(found)


def _pinned(
    context: Context, dataset: Dataset, batch_rows: int, workers: int, cores: Cores
) -> list[dict[str, Any]]:
    """Load into a null server on the server's cores, with benchload on the client's cores."""
    with tempfile.TemporaryDirectory(dir=context.scratch) as name:
        log = Path(name) / "log"
        with confine(Confinement(cores=cores[0])):
            server = spawn.start(
                [context.benchload, "null-server"], name=NULL_SERVER, log=log, pipes=True,
                registry=context.results / "processes",
            )  # fmt: skip
        client = None
        try:
            url = json.loads(next(server.lines(), b"{}")).get("url")
            if not url:
                raise BenchbookError(f"The null server did not report its address: {spawn.log_end(log)}")
            with confine(Confinement(cores=cores[1])):
                client = spawn.start(
                    [context.benchload, "load", dataset.generator, *dataset.flags(), "--target", "influx",
                     "--url", url, "--database", DATABASE, f"--batch-rows={batch_rows}", f"--workers={workers}"],
                    name="benchload", log=log, pipes=True, registry=context.results / "processes",
                )  # fmt: skip
            events = [json.loads(line) for line in client.lines()]
        finally:
            for one in (client, server):
                if one is not None:
                    one.stop()
    summaries = [event for event in events if event.get("type") == "summary"]
    if not summaries:
        raise BenchbookError("Could not measure the client's ceiling: benchload ended without a summary.")
    return summaries
