"""The client's ceiling: what benchload reaches alone, on the cores that trials use.

Rows are loaded into a server that discards them, and queries are asked of a server that answers at once; both speak
InfluxDB's protocol. The batches of other protocols are generated and encoded, but not sent. Objects and bars go to a
store inside benchload. The last two show the client's work without a connection.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.declare.dataset import Dataset
from benchbook.declare.experiment import limits
from benchbook.declare.workload import BlobOptions, KlineOptions, LoadOptions, QueryOptions
from benchbook.errors import BenchbookError
from benchbook.plan.plan import PlannedTrial, phase_options, trial_dataset
from benchbook.process import spawn
from benchbook.process.confinement import Confinement, confine
from benchbook.process.launch import Program
from benchbook.run.benchload import Calibration, calibrate
from benchbook.run.confined import Cores, cores_of
from benchbook.run.workloads import kline
from benchbook.systems.driver import driver_class

if TYPE_CHECKING:
    from benchbook.run.context import Context

SECONDS = 5.0
"""Length of each measurement; a run with profile smoke does each operation once, because it decides nothing."""
NULL_SERVER = "null server"
DATABASE = "calibrate"
WITHOUT_LOAD = ("frames", "join-frames", "hits")
"""Datasets that benchload only generates; a worker in Python loads them."""


@dataclass
class Alone:
    """A command of benchload without a system under test."""

    arguments: tuple[str, ...]
    served: bool
    """Whether a null server answers it; else benchload needs no server."""
    about: dict[str, Any] = field(default_factory=dict)
    """What its record in ``run.json`` says, beside the summary."""


def ceiling(context: Context, dataset: Dataset) -> list[dict[str, Any]]:
    """Return the summaries of benchload alone, one for each kind of load or phase and each choice of cores.

    Empty for embedded systems, which share the client's process, and where benchload is not the client. A cluster's
    clients are measured with loads only.
    """
    plan = context.plan
    if dataset.generator in WITHOUT_LOAD or all(context.system(name).embedded for name in plan.systems()):
        return []
    context.observer.note("measuring the client's ceiling")
    if context.cluster:
        return [
            {**event, **about} for about, asked in _loads(context, dataset)
            for event in context.cluster.on_client(calibrate, dataset, asked)
        ]  # fmt: skip
    found = [
        Alone(("load", dataset.generator, *dataset.flags(), *asked.flags()), True, about)
        for about, asked in _loads(context, dataset)
    ]
    found += _phases(context)
    return [
        {**event, **one.about} for one in found for cores in _pairs(context)
        for event in _measured(context, one, cores)
    ] + [
        {**event, **one.about} for one in _encodings(context, dataset) for cores in _pairs(context)
        for event in _encoded(context, one, cores)
    ]  # fmt: skip


def _lasting(context: Context) -> list[str]:
    return [] if context.plan.profile == "smoke" else [f"--duration={SECONDS:g}s"]


def _loads(context: Context, dataset: Dataset) -> list[tuple[dict[str, Any], Calibration]]:
    """Return the different batches and workers of the trials' loads; those of the default load if there is none."""
    if dataset.generator == "blob":
        return []  # objects are put, not loaded
    plan = context.plan
    loads = [
        options
        for trial in plan.trials
        for phase in plan.phases
        if isinstance(options := phase_options(phase, trial.levels), LoadOptions)
    ]
    found = [_calibration(context, one) for one in loads or [LoadOptions()]]
    return [
        ({"batch_size": asked.batch_rows, "workers": asked.workers}, asked) for asked in dict.fromkeys(found)
    ]


SERVED_PROTOCOL = "influx"
"""Benchload's name of the protocol that the null server speaks."""


def _encodings(context: Context, dataset: Dataset) -> list[Alone]:
    """Return a load that sends nothing for each protocol, other than the null server's, and each kind of load."""
    found: dict[tuple[str, ...], Alone] = {}
    for trial in context.plan.trials:
        system = context.system(str(trial.levels["system"]))
        # Embedded systems, and tools and databases with a client of their own, have no protocol of benchload.
        protocol = getattr(driver_class(system.driver), "target", None) if not system.embedded else None
        for phase in context.plan.phases:
            options = phase_options(phase, trial.levels)
            if protocol in (None, SERVED_PROTOCOL) or not isinstance(options, LoadOptions):
                continue
            asked = _calibration(context, options)
            arguments = (
                "load", dataset.generator, *dataset.flags(), *asked.flags(), f"--target={protocol}", "--dry-run",
            )  # fmt: skip
            about = {"batch_size": asked.batch_rows, "workers": asked.workers, "systems": []}
            systems = found.setdefault(arguments, Alone(arguments, False, about)).about["systems"]
            if system.name not in systems:
                systems.append(system.name)
    return list(found.values())


def _calibration(context: Context, options: LoadOptions) -> Calibration:
    lasts = None if context.plan.profile == "smoke" else SECONDS
    return Calibration(options.batch_size, options.workers, options.gzip, lasts)


def _phases(context: Context) -> list[Alone]:
    """Return each different command of the trials' closed-loop phases, with the names of its cells."""
    found: dict[tuple[str, tuple[str, ...]], Alone] = {}
    for trial in context.plan.trials:
        if context.system(str(trial.levels["system"])).embedded:
            continue
        for phase in context.plan.phases:
            one = _of_phase(context, trial, str(phase["name"]), phase_options(phase, trial.levels))
            if one is None:
                continue
            kept = found.setdefault((one.about["phase"], one.arguments), one)
            cells = kept.about.setdefault("cells", [])
            if trial.cell not in cells:
                cells.append(trial.cell)
    return list(found.values())


def _of_phase(context: Context, trial: PlannedTrial, name: str, options: object) -> Alone | None:
    """Return what benchload does in a phase; None in an open loop, in a deletion, and in phases without operations."""
    if not isinstance(options, QueryOptions | KlineOptions | BlobOptions) or options.rate:
        return None
    dataset = trial_dataset(context.plan, trial.levels)
    lasts = _lasting(context)
    if isinstance(options, QueryOptions):
        file = context.queries(dataset, options)
        arguments = ("query", f"--queries={file}", f"--workers={options.workers}", *lasts)
        return Alone(arguments, True, {"phase": name, "workers": options.workers})
    if isinstance(options, KlineOptions):
        key = (dataset.flags(), " ".join(kline.request_flags(options, frozenset())), options.requests)
        workers = options.in_flight_of(str(trial.levels["system"]))
        arguments = (
            "bars-read", *dataset.flags(), f"--requests={context.query_files[key]}", f"--workers={workers}", *lasts,
            "--target=null",
        )  # fmt: skip
        return Alone(arguments, False, {"phase": name, "workers": workers})
    if options.do == "delete":
        return None
    arguments = (
        "blob", *dataset.flags(), f"--do={options.do}", f"--mix={options.mix}", f"--batch={options.batch}",
        f"--workers={options.workers}", *lasts, "--target=null",
    )  # fmt: skip
    return Alone(arguments, False, {"phase": name, "workers": options.workers})


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


def _encoded(context: Context, asked: Alone, cores: Cores | None) -> list[dict[str, Any]]:
    """Return the summary of a load that sends nothing; none if the protocol cannot take the dataset.

    The trials of that system say so.
    """
    try:
        return _measured(context, asked, cores)
    except BenchbookError:
        return []


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
