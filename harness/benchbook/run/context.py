"""The shared state of all trials of a run: programs, datasets, query sets. ``description.py`` records it."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.dataset import Dataset, Digested
from benchbook.declare.system import System
from benchbook.declare.workload import workload
from benchbook.errors import Unavailable
from benchbook.host.provenance import sha256_of
from benchbook.plan.factors import SOURCE
from benchbook.plan.plan import Plan, PlannedTrial, trial_dataset
from benchbook.process.launch import Program
from benchbook.record.trial_record import Trial
from benchbook.run import benchload, content
from benchbook.run.benchload import go_command
from benchbook.run.progress import Observer

if TYPE_CHECKING:
    from benchbook.process.remote import Machines


class OtherMachines(Protocol):
    """What carries out trials on other machines (``cluster.py: Cluster``)."""

    def find(self, system: str, given: dict[str, str], source: str | None) -> Program | Unavailable:
        """Return a system's program on the machine that runs servers."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return the machines' facts and controls for ``run.json``."""
        ...

    def on_client(self, function: Any, *arguments: Any) -> Any:
        """Call a function on the machine of the first client."""
        ...

    def carry_out(self, task: Any, folder: Path) -> Trial:
        """Carry out a trial and return its record."""
        ...


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
    digests: dict[tuple[str, ...], Digested] = field(default_factory=dict)
    """Digest of each dataset, by its flags."""
    query_files: dict[tuple[tuple[str, ...], str, int], Path] = field(default_factory=dict)
    """Query set by dataset flags, type and number."""
    host: str = "127.0.0.1"
    """The address on which servers listen and clients reach them."""
    machines: Machines | None = None
    """The machines on which clients run; None means this machine."""
    cluster: OtherMachines | None = None
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

    def dataset(self, trial: PlannedTrial) -> tuple[Dataset, Digested]:
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
    cluster: OtherMachines | None = None,
) -> Context:
    """Find the programs, digest the datasets and write the query sets; start nothing.

    For an unavailable system, ``programs`` holds the reason. Raise RequestError if the request is invalid.
    """
    from benchbook.provision import client
    from benchbook.provision.find import find
    from benchbook.provision.request import Request

    folder = results / "runs" / plan.run_id
    asked = Request(given=given, go=go_command(), progress=observer.note)
    binary = client.find(plan.experiment, asked)
    programs: dict[str, Program | Unavailable] = {}
    sources = {trial.program: trial.levels for trial in plan.trials}
    for name in [*sources, *_needed(plan, catalogue)]:
        levels = sources.get(name, {"system": name})
        try:
            system, source = str(levels["system"]), str(levels[SOURCE]) if SOURCE in levels else None
            own = {**given, system: given[name]} if name in given else given
            programs[name] = (
                find(catalogue.system(system), replace(asked, given=own), source)
                if cluster is None
                else cluster.find(system, own, source)
            )
        except Unavailable as missing:
            programs[name] = missing
        found = programs[name]
        if isinstance(found, Unavailable):
            observer.note(f"{name} is unavailable, so its trials are skipped: {found}")
        elif found.source == "given":
            programs[name] = replace(found, origin=plan.origins.get(str(levels["system"])))
    context = Context(plan, catalogue, results, folder, scratch, binary, observer, programs, cluster=cluster)
    for trial in plan.trials:
        dataset = trial_dataset(plan, trial.levels)
        if dataset.flags() not in context.digests:
            context.digests[dataset.flags()] = (
                content.prepared(catalogue, dataset, results, observer.note)
                if dataset.source
                else benchload.digest(binary, dataset, results)
            )
        for phase in plan.phases:
            options = phase.replaced(trial.levels)
            workload(phase.workload).prepare(context, dataset, options)
    return context


def _needed(plan: Plan, catalogue: Catalogue) -> list[str]:
    """Return the systems that the plan's storages and tools need, apart from those under test."""
    storages = dict.fromkeys(str(trial.levels["storage"]) for trial in plan.trials)
    found = dict.fromkeys(name for one in storages for name in catalogue.storage(one).programs)
    found |= dict.fromkeys(name for phase in plan.phases for name in workload(phase.workload).programs)
    return [name for name in found if name not in plan.systems()]


def program_record(program: Program | Unavailable | None) -> dict[str, Any] | None:
    """Return the JSON form of a program, or of the reason why there is none."""
    if program is None:
        return None
    if isinstance(program, Unavailable):
        return {"unavailable": str(program)}
    record = {**asdict(program), "path": str(program.path) if program.path else None}
    del record["root"]  # a folder of the cache; the digest names the image
    return record


def combined(digests: list[str]) -> str | None:
    """Combine digests: a single one stays, several are hashed together."""
    if len(digests) <= 1:
        return digests[0] if digests else None
    return f"sha256:{hashlib.sha256(chr(10).join(sorted(digests)).encode()).hexdigest()}"
