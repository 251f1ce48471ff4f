"""Measure the client's ceiling: the same load into a server that keeps nothing, on the cores that trials have.

Where server and client of a trial have separate cores, so have the null server and the load tool here: with all
cores of the machine the client would reach more than it can reach in a trial.
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
    """Return the summaries of loads into a null server; embedded systems share the client's process and need none."""
    plan = context.plan
    if all(context.system(name).embedded for name in plan.systems()) or dataset.generator == "blob":
        return []  # objects need no server to be without one: the file system's row shows the client's limit
    loads = [options for phase in plan.phases if isinstance(options := phase_options(phase, {}), LoadOptions)]
    options = loads[0] if loads else LoadOptions()
    context.observer.note("measuring the client's own ceiling against a null server")
    asked = (dataset, options.batch_size, options.workers)
    if context.cluster:
        found: list[dict[str, Any]] = context.cluster.on_client(calibrate_here, *asked)
        return found
    events = []
    for cores in _pairs(context):
        ran = _pinned(context, *asked, cores) if cores else calibrate(context.benchload, *asked)
        server, client = cores or (None, None)
        told = {"server_cores": sorted(server) if server else None,
                "client_cores": sorted(client) if client else None}  # fmt: skip
        events += [{**event, **told} for event in ran]
    return events


def _pairs(context: Context) -> list[Cores | None]:
    """Return each pair of server's and client's cores that a trial of the plan will have; None for all of them."""
    found: dict[Cores | None, None] = {}
    for trial in context.plan.trials:
        system = context.system(str(trial.levels["system"]))
        program = context.programs.get(program_name(trial))
        if not system.embedded:
            given = program if isinstance(program, Program) else Program(system.name, system.version, "none")
            found[cores_of(limits(trial.levels), given, embedded=False)[0]] = None
    return list(found)


def _pinned(
    context: Context, dataset: Dataset, batch_rows: int, workers: int, cores: Cores
) -> list[dict[str, Any]]:
    """Load into a null server on the server's cores from a load tool on the client's."""
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
                raise BenchbookError(f"The null server did not tell its address: {spawn.last_words(log)}")
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
        raise BenchbookError(
            "The client's own ceiling could not be measured: benchload ended without a summary."
        )
    return summaries
