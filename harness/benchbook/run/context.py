"""The shared state of all trials of a run: programs, datasets, query sets. ``run.json`` records it."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.declare import published
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.dataset import Dataset
from benchbook.declare.system import System
from benchbook.declare.workload import workload
from benchbook.errors import RequestError, Unavailable, command
from benchbook.host.provenance import provenance, sha256_of
from benchbook.plan.factors import FROM, SOURCE
from benchbook.plan.plan import Plan, PlannedTrial, phase_options, trial_dataset
from benchbook.process import spawn
from benchbook.process.launch import Program
from benchbook.record.folder import RUN_FILE, read_object, write_whole
from benchbook.record.runs import all_runs, machine_of
from benchbook.run import benchload
from benchbook.run.ceiling import ceiling
from benchbook.run.progress import Observer

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
    sources = {trial.program: trial.levels for trial in plan.trials}
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
            workload(phase["workload"]).prepare(context, dataset, options)
    return context


def _needed(plan: Plan, catalogue: Catalogue) -> list[str]:
    """Return the systems that the plan's storages and tools need, apart from those under test."""
    storages = dict.fromkeys(str(trial.levels["storage"]) for trial in plan.trials)
    found = dict.fromkeys(name for one in storages for name in catalogue.storage(one).programs)
    found |= dict.fromkeys(name for phase in plan.phases for name in workload(phase["workload"]).programs)
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


def program_record(program: Program | Unavailable | None) -> dict[str, Any] | None:
    """Return the JSON form of a program, or of the reason why there is none."""
    if program is None:
        return None
    if isinstance(program, Unavailable):
        return {"unavailable": str(program)}
    record = {**asdict(program), "path": str(program.path) if program.path else None}
    del record["root"]  # a folder of the cache; the digest names the image
    return record


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
        if isinstance(program, Unavailable) and "digest" in earlier and not context.plan.cluster:
            raise RequestError(
                f"The run {context.plan.run_id} cannot continue: {name} was available at its start, and is not now: "
                f"{program}",
                f"Make it available, then continue with: {command(f'resume {context.plan.run_id}')}",
            )
        if isinstance(program, Program) and "unavailable" not in earlier:
            now[name], then[name] = program.digest, earlier.get("digest")
    for name, value in now.items():
        if then[name] != value:
            raise RequestError(
                f"The run {context.plan.run_id} cannot continue: the digest of {name} was {then[name]} at its start,"
                f" and is {value} now.",
                "Check out the revision with which the run began, or start a new run.",
            )
