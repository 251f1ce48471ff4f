"""What runs on the server's worker: looks for programs there, and carries out one trial with clients elsewhere."""

from __future__ import annotations

import io
import os
import socket
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchbook.cluster.remote import Machine, Machines
from benchbook.declare.catalogue import Catalogue
from benchbook.errors import TrialFailed, Unavailable
from benchbook.plan.plan import Plan, PlannedTrial
from benchbook.run import benchload
from benchbook.run.context import Context, go_command
from benchbook.run.scratch import own_scratch, sweep_scratch
from benchbook.run.trial import Trial
from benchbook.storage import leftovers as mounts
from benchbook.systems import client_host, containers, control_group, leftovers
from benchbook.systems.program import Program

TOPIC = "benchbook"
"""Topic under which a worker tells what happens in a trial."""


@dataclass
class Errand:
    """All that a worker needs for one trial."""

    plan: Plan
    trial: PlannedTrial
    program: dict[str, Program | Unavailable]
    digests: dict[tuple[str, ...], dict[str, Any]]
    queries: dict[tuple[tuple[str, ...], str, int], tuple[str, bytes]]
    """Query sets: file name and content."""
    machines: list[tuple[str, Any, dict[str, Any]]] = field(default_factory=list)
    """Address, actor and description of each client's worker."""


def about() -> dict[str, Any]:
    """Say which Benchbook and which machine this worker is."""
    import benchbook
    from benchbook.host.provenance import source_digest

    try:
        tool = benchload.identity(benchload.find())["digest"]
    except Unavailable as reason:
        tool = str(reason)
    return {
        "host": socket.gethostname(),
        "source_digest": source_digest(Path(benchbook.__file__).parent),
        "benchload": tool,
    }


def facts() -> dict[str, Any]:
    """Return the facts and controls of this worker's machine."""
    from benchbook.host import controls
    from benchbook.host import facts as host

    folder = _results()
    return {
        "host": host.facts(folder),
        "controls": [vars(control) for control in controls.checks(folder)],
    }


def find(system: str, given: dict[str, str], source: str | None) -> Program | Unavailable:
    """Look for a program on this worker."""
    from benchbook.provision import Request
    from benchbook.provision import find as look

    try:
        return look(Catalogue().system(system), Request(given=given, go=go_command()), source)
    except Unavailable as reason:
        return Unavailable(reason.message, reason.hint)


def carry_out(errand: Errand) -> tuple[dict[str, Any], bytes]:
    """Carry out one trial; return its record and its folder, packed."""
    from distributed import get_worker

    results = _results()
    for _ in leftovers.sweep(results / "processes"):
        pass
    mounts.sweep(results / "mounts")
    containers.sweep(results / "processes")
    sweep_scratch(results)
    control_group.sweep()
    worker = get_worker()
    machines = Machines([Machine(*one) for one in errand.machines])
    with own_scratch(results) as scratch:
        folder = scratch / "trial"
        folder.mkdir()
        files = {}
        for key, (name, content) in errand.queries.items():
            files[key] = scratch / name
            files[key].write_bytes(content)
        context = Context(
            errand.plan,
            Catalogue(),
            results,
            folder,
            scratch,
            benchload.find(),
            _Afar(worker, worker.get_current_task()),
            errand.program,
            errand.digests,
            files,
            host=str(urlsplit(worker.address).hostname),
            machines=machines,
        )
        with client_host.on(machines):
            record = Trial(context, errand.trial, folder).run()
        record["placement"] = {
            "server": {"worker": worker.address, "host": socket.gethostname()},
            "clients": [machine.placement() for machine in machines.machines],
        }
        return record, _packed(folder)


def unpack(content: bytes, folder: Path) -> None:
    """Write the packed folder of a trial."""
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        archive.extractall(folder, filter="data")


def _packed(folder: Path) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1) as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, arcname=path.name)
    return made.getvalue()


def _results() -> Path:
    """Return the folder of this worker's trials: beside Dask's own, on the disk of ``--local-directory``."""
    from distributed import get_worker

    folder = Path(get_worker().local_directory).parent / f"benchbook-{os.getuid()}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class _Afar:
    """Tells the harness what happens here, and ends the trial when the harness has gone or asks for it."""

    def __init__(self, worker: Any, key: str) -> None:
        self._worker, self._key = worker, key

    def note(self, sentence: str) -> None:
        self._tell("note", sentence)

    def phase(self, name: str) -> None:
        self._tell("phase", name)

    def rate(self, per_second: float, unit: str) -> None:
        self._tell("rate", per_second, unit)

    def run_started(self, plan: Plan, done: int) -> None:
        """Nothing: the harness says that itself, as it does all that follows."""

    def trial_started(self, trial: PlannedTrial) -> None:
        """Nothing."""

    def trial_ended(self, trial: PlannedTrial, record: dict[str, Any]) -> None:
        """Nothing."""

    def run_ended(self) -> None:
        """Nothing."""

    def _tell(self, what: str, *values: Any) -> None:
        task = self._worker.state.tasks.get(self._key)
        if task is None or task.state == "cancelled":
            raise TrialFailed("The run was interrupted.")
        self._worker.log_event(TOPIC, {"key": self._key, "what": what, "values": values})
