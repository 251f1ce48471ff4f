"""The shared state of all trials of a run: programs, datasets, query sets, the client's ceiling.

``run.json`` records it. The ceiling is the rate of the same load into a server that discards it, on the cores that
trials use: if server and client of a trial have separate cores, so have the null server and benchload.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.declare import published
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.dataset import Dataset
from benchbook.declare.experiment import limits
from benchbook.declare.system import System
from benchbook.declare.workload import KlineOptions, LoadOptions, QueryOptions
from benchbook.errors import BenchbookError, RequestError, Unavailable
from benchbook.host.provenance import provenance, sha256_of
from benchbook.plan.factors import FROM, SOURCE
from benchbook.plan.plan import Plan, PlannedTrial, phase_options, trial_dataset
from benchbook.process import spawn
from benchbook.process.confinement import Confinement, confine
from benchbook.process.launch import Program
from benchbook.record.folder import RUN_FILE, read_object, write_whole
from benchbook.record.runs import all_runs, machine_of
from benchbook.run import benchload
from benchbook.run.benchload import Calibration, calibrate
from benchbook.run.confined import Cores, cores_of
from benchbook.run.progress import Observer
from benchbook.run.workloads import kline

if TYPE_CHECKING:
    from benchbook.process.remote import Machines
    from benchbook.run.cluster import Cluster


SCHEMA = 1


@dataclass
class Context:
    """A prepared run."""

    plan: Plan
    catalogue: Catalogue
    results: Path
    folder: Path
    """The run's folder."""
    scratch: Path
    """Folder for the data of the systems under test; emptied after each trial."""
    benchload: Path
    observer: Observer
    programs: dict[str, Program | Unavailable]
    digests: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)
    """Digest of each dataset, by its flags."""
    query_files: dict[tuple[tuple[str, ...], str, int], Path] = field(default_factory=dict)
    """Query set by dataset flags, type and number."""
    limits_measured: set[tuple[int, str, int, int]] = field(default_factory=set)
    """Block, storage, jobs and bytes for which fio has measured the disk's sync rate."""
    host: str = "127.0.0.1"
    """The address on which servers listen and clients reach them."""
    machines: Machines | None = None
    """The machines on which clients run; None means this machine."""
    cluster: Cluster | None = None
    """The cluster that carries out the trials; None means this machine."""

    def system(self, name: str) -> System:
        """Return the declaration of a system."""
        return self.catalogue.system(name)

    def program(self, name: str) -> Program:
        """Return a program that a trial needs; raise Unavailable with the reason if there is none."""
        found = self.programs[name]
        if isinstance(found, Unavailable):
            raise found
        return found

    def dataset(self, trial: PlannedTrial) -> tuple[Dataset, dict[str, Any]]:
        """Return a trial's dataset and its digest."""
        dataset = trial_dataset(self.plan, trial.levels)
        return dataset, self.digests[dataset.flags()]

    def queries_digest(self) -> str | None:
        """Return one digest of all query sets of the run."""
        return combined([sha256_of(path) for path in self.query_files.values()])

    def queries(self, dataset: Dataset, options: QueryOptions) -> Path:
        """Return the query set of a phase, generated before the first trial."""
        return self.query_files[dataset.flags(), options.type, options.different]


def prepare(
    plan: Plan,
    catalogue: Catalogue,
    results: Path,
    scratch: Path,
    given: dict[str, str],
    observer: Observer,
    cluster: Cluster | None = None,
) -> Context:
    """Find the programs, digest the datasets and write the query sets; start nothing.

    For an unavailable system, ``programs`` holds the reason. Raise RequestError if the request is invalid.
    """
    from benchbook.provision.find import find
    from benchbook.provision.request import Request

    folder = results / "runs" / plan.run_id
    binary = spawn.find_benchload()
    asked = Request(given=given, go=go_command(), progress=observer.note)
    programs: dict[str, Program | Unavailable] = {}
    sources = {program_name(trial): trial.levels for trial in plan.trials}
    for name in [*sources, *_needed(plan, catalogue)]:
        levels = sources.get(name, {"system": name})
        try:
            source = str(levels[SOURCE]) if SOURCE in levels else None
            programs[name] = (
                find(catalogue.system(str(levels["system"])), asked, source)
                if cluster is None
                else cluster.find(str(levels["system"]), given, source)
            )
        except Unavailable as missing:
            programs[name] = missing
        missing_program = programs[name]
        if isinstance(missing_program, Unavailable):
            observer.note(f"{name} is unavailable, so its trials are skipped: {missing_program}")
    context = Context(plan, catalogue, results, folder, scratch, binary, observer, programs, cluster=cluster)
    for trial in plan.trials:
        dataset = trial_dataset(plan, trial.levels)
        if dataset.flags() not in context.digests:
            context.digests[dataset.flags()] = benchload.digest(binary, dataset, results)
        for phase in plan.phases:
            options = phase_options(phase, trial.levels)
            if isinstance(options, KlineOptions):
                kline.prepare(context, dataset, options)
            elif isinstance(options, QueryOptions):
                key = (dataset.flags(), options.type, options.different)
                if key not in context.query_files:
                    context.query_files[key] = benchload.queries(
                        binary, dataset, options.type, options.different, folder / "queries"
                    )
    return context


def _needed(plan: Plan, catalogue: Catalogue) -> list[str]:
    """Return the systems that the plan's storages and tools need, apart from those under test."""
    storages = dict.fromkeys(str(trial.levels["storage"]) for trial in plan.trials)
    found = dict.fromkeys(name for one in storages for name in catalogue.storage(one).programs)
    found |= dict.fromkeys(phase["workload"] for phase in plan.phases if phase["workload"] == "fio")
    return [name for name in found if name not in plan.systems()]


def describe(context: Context, argv: list[str]) -> dict[str, Any]:
    """Return the content of ``run.json`` at the start of a run: host, provenance, programs, the client's ceiling."""
    from benchbook.host.controls import checks
    from benchbook.host.facts import facts

    plan = context.plan
    experiment = context.catalogue.experiment(plan.experiment)
    first = trial_dataset(plan, plan.trials[0].levels)
    return {
        "schema": SCHEMA,
        "run_id": plan.run_id,
        "experiment": plan.experiment,
        "title": plan.title,
        "question": experiment.question,
        "profile": plan.profile,
        "order_seed": plan.order_seed,
        "precision": plan.precision,
        "sequential": plan.sequential,
        "earlier_runs": earlier_runs(context.results, plan),
        "created_at": plan.created_at,
        "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "finished_at": None,
        "argv": argv,
        "provenance": {
            **provenance(context.catalogue.root),
            "benchload": benchload.identity(context.benchload),
            "python": sys.version.split()[0],
            "experiment_digest": sha256_of(context.catalogue.path("experiment", plan.experiment)),
            "dataset_digest": combined([str(digest["sha256"]) for digest in context.digests.values()]),
            "queries_digest": context.queries_digest(),
        },
        **(
            context.cluster.describe()
            if context.cluster
            else {
                "host": facts(context.results),
                "controls": [vars(control) for control in checks(context.results)],
            }
        ),
        "dataset": context.digests[first.flags()],
        "programs": {name: program_record(program) for name, program in context.programs.items()},
        "calibration": ceiling(context, first),
        "declared": _declared(context),
    }


def earlier_runs(results: Path, plan: Plan) -> list[dict[str, Any]]:
    """Return the earlier runs of the experiment in these results: repeating a run until it pleases becomes visible."""
    found = []
    for run in all_runs(results, lambda _: None):
        if run.experiment == plan.experiment and run.run_id != plan.run_id:
            held = read_object(run.path / RUN_FILE) if (run.path / RUN_FILE).exists() else {}
            found.append(
                {
                    "run_id": run.run_id,
                    "profile": run.profile,
                    "revision": (held.get("provenance") or {}).get("git_revision"),
                    "machine": machine_of(run),
                    "against_itself": run.against_itself,
                    "finished": run.whole and run.finished_at is not None,
                    "trials": run.done,
                }
            )
    return found


def program_name(trial: PlannedTrial) -> str:
    """Return the name of a trial's program: its system, with the source if that is a factor."""
    system, source = str(trial.levels["system"]), trial.levels.get(SOURCE)
    return f"{system}{FROM}{source}" if source else system


def program_record(program: Program | Unavailable | None) -> dict[str, Any] | None:
    """Return the JSON form of a program, or of the reason why there is none."""
    if program is None:
        return None
    if isinstance(program, Unavailable):
        return {"unavailable": str(program)}
    return {**asdict(program), "path": str(program.path) if program.path else None}


def keep_declarations(context: Context) -> None:
    """Copy the run's TOML declarations and the published numbers of its claims into its folder."""
    catalogue, plan = context.catalogue, context.plan
    wanted = [("experiment", plan.experiment), ("dataset", str(plan.dataset["name"]))]
    systems = dict.fromkeys(name.partition(FROM)[0] for name in context.programs)
    wanted += [("system", name) for name in systems]
    wanted += [("storage", str(name)) for name in {trial.levels["storage"] for trial in plan.trials}]
    for kind, name in wanted:
        path = catalogue.path(kind, name)
        shown = f"{kind}-{name}.toml" if kind != "experiment" else "experiment.toml"
        write_whole(context.folder / "declared" / shown, path.read_bytes())
    for name in published.files(catalogue.experiment(plan.experiment).claims):
        write_whole(
            context.folder / "declared" / "published" / name, (catalogue.published / name).read_bytes()
        )


def go_command() -> Path | None:
    """Return the Go toolchain that ``./bench`` set up, or None to use the one on PATH."""
    configured = os.environ.get("BENCHBOOK_GO")
    return Path(configured) if configured else None


def combined(digests: list[str]) -> str | None:
    """Combine digests: a single one stays, several are hashed together."""
    if len(digests) <= 1:
        return digests[0] if digests else None
    return f"sha256:{hashlib.sha256(chr(10).join(sorted(digests)).encode()).hexdigest()}"


def _declared(context: Context) -> dict[str, Any]:
    systems = {
        name: context.system(name).model_dump(mode="json", exclude={"source"})
        for name in context.plan.systems()
    }
    experiment = context.catalogue.experiment(context.plan.experiment).model_dump(mode="json")
    return {"systems": systems, "experiment": experiment}


def check_same(context: Context, before: dict[str, Any]) -> None:
    """Refuse to resume a run with another Benchbook, other programs or other data than it began with."""
    now = {
        "benchload": benchload.identity(context.benchload)["digest"],
        "dataset": combined([str(digest["sha256"]) for digest in context.digests.values()]),
        "queries": context.queries_digest(),
    }
    recorded = before["provenance"]
    then = {
        "benchload": recorded["benchload"]["digest"],
        "dataset": recorded["dataset_digest"],
        "queries": recorded["queries_digest"],
    }
    here = provenance(context.catalogue.root)
    for name in ("source_digest", "lock_digest"):
        now[name], then[name] = here[name], recorded.get(name)
    for name, program in context.programs.items():
        earlier = before["programs"].get(name, {})
        if isinstance(program, Program) and "unavailable" not in earlier:
            now[name], then[name] = program.digest, earlier.get("digest")
    for name, value in now.items():
        if then[name] != value:
            raise RequestError(
                f"The run {context.plan.run_id} cannot continue: the digest of {name} was {then[name]} at its start,"
                f" and is {value} now.",
                "Check out the revision with which the run began, or start a new run.",
            )


NULL_SERVER = "null server"
DATABASE = "calibrate"


def ceiling(context: Context, dataset: Dataset) -> list[dict[str, Any]]:
    """Return summaries of loads into a null server and of queries to it, one for each kind among the trials.

    Empty for embedded systems, which share the client's process. A cluster's clients are measured with loads only.
    """
    plan = context.plan
    if all(context.system(name).embedded for name in plan.systems()) or dataset.generator == "blob":
        return []  # for objects, the file system's row shows the client's limit
    context.observer.note("measuring the client's ceiling against a null server")
    loads = [
        ({"batch_size": asked.batch_rows, "workers": asked.workers}, asked) for asked in _calibrations(plan)
    ]
    if context.cluster:
        return [
            {**event, **load} for load, asked in loads
            for event in context.cluster.on_client(calibrate, dataset, asked)
        ]  # fmt: skip
    commands: list[tuple[dict[str, Any], list[str]]] = [
        (load, ["load", dataset.generator, *dataset.flags(), *asked.flags()]) for load, asked in loads
    ]
    lasts = [] if plan.profile == "smoke" else [f"--duration={CALIBRATION_SECONDS:g}s"]
    commands += [
        ({"phase": phase, "workers": workers}, ["query", f"--queries={file}", f"--workers={workers}", *lasts])
        for phase, file, workers in _query_phases(context)
    ]
    return [
        {**event, **about} for about, command in commands for cores in _pairs(context)
        for event in _alone(context, command, cores)
    ]  # fmt: skip


CALIBRATION_SECONDS = 5.0
"""Length of each load into the null server; a smoke run loads its dataset once, for it decides nothing."""


def _calibrations(plan: Plan) -> list[Calibration]:
    """Return the different batches and workers of the trials' loads; those of the default load if there is none."""
    lasts = None if plan.profile == "smoke" else CALIBRATION_SECONDS
    loads = [
        options
        for trial in plan.trials
        for phase in plan.phases
        if isinstance(options := phase_options(phase, trial.levels), LoadOptions)
    ]
    found = [Calibration(one.batch_size, one.workers, one.gzip, lasts) for one in loads or [LoadOptions()]]
    return list(dict.fromkeys(found))


def _query_phases(context: Context) -> list[tuple[str, Path, int]]:
    """Return each phase of queries with its query set and its workers; without those of an open loop."""
    found: dict[tuple[str, Path, int], None] = {}
    for trial in context.plan.trials:
        for phase in context.plan.phases:
            options = phase_options(phase, trial.levels)
            if isinstance(options, QueryOptions) and not options.rate:
                file = context.queries(trial_dataset(context.plan, trial.levels), options)
                found[str(phase["name"]), file, options.workers] = None
    return list(found)


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


def _alone(context: Context, asked: Sequence[str], cores: Cores | None) -> list[dict[str, Any]]:
    """Run a command of benchload against a null server, each on its cores; return its summaries with these cores."""
    server_cores, client_cores = cores or (None, None)
    with tempfile.TemporaryDirectory(dir=context.scratch) as name:
        log = Path(name) / "log"
        with confine(Confinement(cores=server_cores)):
            server = spawn.start(
                [context.benchload, "null-server"], name=NULL_SERVER, log=log, pipes=True,
                registry=context.results / "processes",
            )  # fmt: skip
        client = None
        try:
            url = json.loads(next(server.lines(), b"{}")).get("url")
            if not url:
                raise BenchbookError(f"The null server did not report its address: {spawn.log_end(log)}")
            with confine(Confinement(cores=client_cores)):
                client = spawn.start(
                    [context.benchload, *asked, "--target", "influx", "--url", url, "--database", DATABASE],
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
            "Could not measure the client's highest rate on this machine: benchload ended without a summary."
        )
    placement = {
        "server_cores": sorted(server_cores) if server_cores else None,
        "client_cores": sorted(client_cores) if client_cores else None,
    }
    return [{**summary, **placement} for summary in summaries]
