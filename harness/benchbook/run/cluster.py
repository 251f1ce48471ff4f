"""Carry out the trials of a run on several machines, through Dask."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import socket
import tarfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.dataset import Digested
from benchbook.errors import RequestError, TrialFailed, Unavailable, command
from benchbook.host import extras, guarded
from benchbook.plan.plan import Plan, PlannedTrial
from benchbook.process import confinement, containers, launch, leftovers, strays
from benchbook.process.launch import Program
from benchbook.process.remote import ANSWER_SECONDS, Agent, Machine, Machines
from benchbook.process.wait import until, within
from benchbook.record.trial_record import Trial
from benchbook.run import benchload
from benchbook.run.benchload import go_command, load_client
from benchbook.run.context import Context
from benchbook.run.progress import Observer
from benchbook.run.scratch import require_no_links, scratch_folder, sweep_scratch
from benchbook.run.trial import TrialRun
from benchbook.storage import mounting

if TYPE_CHECKING:
    from distributed import Client


TOPIC = "benchbook"
"""Topic under which a worker reports the progress of a trial."""


@dataclass
class RemoteTrial:
    """Everything that a worker needs for one trial."""

    plan: Plan
    trial: PlannedTrial
    program: dict[str, Program | Unavailable]
    digests: dict[tuple[str, ...], Digested]
    queries: dict[tuple[tuple[str, ...], str, int], tuple[str, bytes]]
    """Query sets: file name and content."""
    machines: list[tuple[str, Any, dict[str, Any]]] = field(default_factory=list)
    """Address, actor and description of each client's worker."""


def about(experiment: str = "") -> dict[str, Any]:
    """Return what identifies this worker's Benchbook and machine, with the load client of an experiment."""
    import benchbook
    from benchbook.host.provenance import source_digest

    try:
        tool = benchload.identity(load_client(experiment))["digest"]
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
    """Find a program on this worker."""
    from benchbook.provision.find import find as look
    from benchbook.provision.request import Request

    try:
        return look(Catalogue().system(system), Request(given=given, go=go_command()), source)
    except Unavailable as reason:
        return Unavailable(reason.message, reason.hint)


def carry_out(task: RemoteTrial) -> tuple[Trial, bytes]:
    """Carry out one trial on this worker; return its record and its folder as an archive."""
    from distributed import get_worker

    results = _results()
    require_no_links(results)
    for _ in leftovers.sweep(results / "processes"):
        pass
    strays.sweep()
    mounting.sweep_mounts(results / "mounts")
    containers.sweep(results / "processes")
    sweep_scratch(results)
    confinement.sweep()
    worker = get_worker()
    machines = Machines([Machine(*one) for one in task.machines])
    with scratch_folder(results) as scratch:
        folder = scratch / "trial"
        folder.mkdir()
        files = {}
        for key, (name, content) in task.queries.items():
            files[key] = scratch / name
            files[key].write_bytes(content)
        context = Context(
            task.plan,
            Catalogue(),
            results,
            folder,
            scratch,
            load_client(task.plan.experiment),
            _RemoteObserver(worker, worker.get_current_task()),
            task.program,
            task.digests,
            files,
            host=str(urlsplit(worker.address).hostname),
            machines=machines,
        )
        with launch.clients_on(machines):
            record = TrialRun(context, task.trial, folder).run()
        record["placement"] = {
            "server": {"worker": worker.address, "host": socket.gethostname()},
            "clients": [machine.placement() for machine in machines.machines],
        }
        return record, _packed(folder)


def unpack(content: bytes, folder: Path) -> None:
    """Unpack the archive of a trial's folder."""
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        archive.extractall(folder, filter="data")


def _packed(folder: Path) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1) as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, arcname=path.name)
    return made.getvalue()


def _results() -> Path:
    """Return the folder of this worker's trials: next to Dask's, on the disk of ``--local-directory``."""
    from distributed import get_worker

    try:
        return guarded.own_folder(Path(get_worker().local_directory).parent / f"benchbook-{os.getuid()}")
    except OSError as error:
        raise TrialFailed(
            f"{error.filename}, the worker's folder for trials, cannot be used: it {error.strerror}.",
            "Remove it, or start the worker with another folder: --local-directory DIR.",
        ) from None


class _RemoteObserver:
    """Reports progress to the harness, and ends the trial when the harness is gone or cancels it."""

    def __init__(self, worker: Any, key: str) -> None:
        self._worker, self._key = worker, key

    def note(self, sentence: str) -> None:
        self._log("note", sentence)

    def phase(self, name: str) -> None:
        self._log("phase", name)

    def rate(self, per_second: float, unit: str) -> None:
        self._log("rate", per_second, unit)

    def run_started(self, plan: Plan, done: int) -> None:
        """Do nothing: the harness reports this itself, as it does the following events."""

    def trial_started(self, trial: PlannedTrial) -> None:
        """Do nothing."""

    def trial_ended(self, trial: PlannedTrial, record: Trial) -> None:
        """Do nothing."""

    def run_ended(self) -> None:
        """Do nothing."""

    def _log(self, what: str, *values: Any) -> None:
        task = self._worker.state.tasks.get(self._key)
        if task is None or task.state == "cancelled":
            raise TrialFailed("The run was interrupted.")
        self._worker.log_event(TOPIC, {"key": self._key, "what": what, "values": values})


CONNECT_SECONDS = 10.0
GRACE_SECONDS = 5.0
"""Time for Dask's client to report its own failure, which explains more."""
WORKER_SECONDS = 60.0
"""Time that a run waits for workers: a batch system starts them later."""
POLL_SECONDS = 0.2
SERVER, CLIENT = "server", "client"
PICKLED = ("dask", "distributed", "cloudpickle")
"""Packages that read what another machine wrote."""


class Cluster:
    """A connection to a Dask scheduler for one run."""

    def __init__(self, address: str, observer: Observer, experiment: str) -> None:
        """Connect, wait for workers of both kinds, and check that they run the same Benchbook."""
        extras.require(["distributed"], "--cluster")
        from distributed import Client

        class Connection(Client):  # type: ignore[misc]
            """A client that only ``close`` ends."""

            def __del__(self) -> None:
                """Leave a client that failed to connect alone.

                Dask's own closes it, which takes a lock that the collector may find held by the next client's start.
                """

        self.address = address
        self._observer = observer
        self._experiment = experiment
        warnings.filterwarnings("ignore", "Mismatched versions found", Warning)  # ``_check`` reports them
        # It logs a traceback when it loses the scheduler; ``_lost_scheduler`` says so in a sentence.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        try:
            # Its own limit is one of each step: a silent port held it for 400 s.
            self._client: Client = within(
                CONNECT_SECONDS + GRACE_SECONDS,
                lambda: Connection(address, timeout=CONNECT_SECONDS, name="benchbook"),
            )
        except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
            # Dask raises TypeError for tls:// without certificates, and for ucx:// without its library.
            raise RequestError(
                f"--cluster {address}: no Dask scheduler answers there ({str(error) or type(error).__name__}).",
                f"Start one with: {command('dask scheduler')}",
            ) from None
        self._agents: dict[str, tuple[Any, dict[str, Any]]] = {}
        self._checked: set[str] = set()
        self._key = ""
        try:
            self._client.subscribe_topic(TOPIC, self._forward)
            self._wait()
            self._check()
        except BaseException:
            self.close()
            raise

    def workers(self, resource: str) -> list[str]:
        """Return the addresses of the workers that have a resource now, in a stable order.

        Raise RequestError if the scheduler does not answer: without it no trial can be carried out.
        """
        scheduler = self._client.scheduler
        try:
            if scheduler is None:  # the client gave up connecting to it again
                raise OSError
            # Not ``Client.scheduler_info``: a periodic update, which fetches no workers, overwrites what it returns.
            known = self._client.sync(scheduler.identity, callback_timeout=ANSWER_SECONDS)["workers"]
        except OSError:
            raise self._lost_scheduler() from None
        found = [at for at, one in known.items() if float((one.get("resources") or {}).get(resource, 0)) >= 1]
        return sorted(found, key=lambda at: (str(known[at].get("name")), at))

    def server(self) -> str:
        """Return the server's worker; raise Unavailable if there is none."""
        found = self.workers(SERVER)
        if not found:
            raise self._lacking(SERVER)
        self._check_worker(found[0])
        return found[0]

    def find(self, system: str, given: dict[str, str], source: str | None) -> Program | Unavailable:
        """Find a program on the server's worker."""
        found: Program | Unavailable = self._call(find, self.server(), system, given, source)
        return found

    def describe(self) -> dict[str, Any]:
        """Return the machines for ``run.json``: the server's as the run's host, and all workers."""
        host = self._call(facts, self.server())
        workers = {
            at: {"resource": kind, **self._call(about, at, self._experiment)}
            for kind in (SERVER, CLIENT)
            for at in self.workers(kind)
        }
        return {**host, "cluster": {"scheduler": self.address, "workers": workers}}

    def on_client(self, function: Any, *arguments: Any) -> Any:
        """Call a function on the first client worker."""
        found = self.workers(CLIENT)
        if not found:
            raise self._lacking(CLIENT)
        return self._call(function, found[0], *arguments)

    def carry_out(self, task: RemoteTrial, folder: Path) -> Trial:
        """Carry out a trial; its files go into ``folder``.

        Raise TrialFailed if a worker is lost, RequestError if the scheduler is.
        """
        server = self.server()
        task.machines = self._machines(server)
        future = self._client.submit(
            carry_out, task, workers=[server], allow_other_workers=False,
            resources={SERVER: 1}, pure=False, retries=0, key=f"benchbook-{task.trial.trial_id}-{time.time_ns()}",
        )  # fmt: skip
        self._key = str(future.key)
        try:
            while not future.done():
                self._require_server(server)
                time.sleep(POLL_SECONDS)
            record, packed = future.result()
        except TrialFailed:
            self._stop_clients()
            raise
        except Exception as error:
            self._stop_clients()
            if future.cancelled():  # Dask cancels everything if it loses the scheduler, even for a moment
                raise self._lost_scheduler() from None
            self._require_server(server)
            raise TrialFailed(f"The trial failed on its worker {server}: {error}") from error
        finally:
            future.cancel()
        unpack(packed, folder)
        ended: Trial = record
        return ended

    def _lost_scheduler(self) -> RequestError:
        return RequestError(
            f"The Dask scheduler {self.address} no longer answers, or did not for a moment.",
            f"Start it at this address and its workers again, then continue with: {command('resume')}",
        )

    def _lacking(self, resource: str) -> Unavailable:
        return Unavailable(
            f"No Dask worker of the scheduler {self.address} has the resource {resource}.",
            f'Start one there with: {command(f"dask worker {self.address}")} --resources "{resource}=1"',
        )

    def _require_server(self, server: str) -> None:
        """Raise TrialFailed if the worker of a running trial is lost, RequestError if the scheduler is."""
        if server not in self.workers(SERVER):
            raise TrialFailed(
                f"The server's worker {server} was lost during the trial.",
                "The next trials use the remaining workers.",
            )

    def close(self) -> None:
        """Stop the remaining clients and close the connection."""
        self._stop_clients()
        with contextlib.suppress(OSError):  # without a scheduler it may not close in time
            self._client.close(timeout=5)

    def _stop_clients(self) -> None:
        """Stop the clients that still run, because a lost server worker cannot. Forget lost client workers."""
        for at, (agent, _) in list(self._agents.items()):
            try:
                agent.stop_all().result(timeout=5)
            except Exception:  # a lost worker has ended its clients
                del self._agents[at]

    def _machines(self, server: str) -> list[tuple[str, Any, dict[str, Any]]]:
        """Return the client workers with their actors; create missing actors."""
        at = [one for one in self.workers(CLIENT) if one != server] or self.workers(CLIENT)
        if not at:
            raise self._lacking(CLIENT)
        for one in at:
            if one not in self._agents:
                self._check_worker(one)
                self._agents[one] = self._agent(one)
        return [(one, *self._agents[one]) for one in at]

    def _agent(self, at: str) -> tuple[Any, dict[str, Any]]:
        """Create the actor of a client worker; return it with what it says about its machine."""
        try:
            program = self._call(load_client, at, self._experiment)
            future = self._client.submit(
                Agent, program, actor=True, workers=[at], allow_other_workers=False, pure=False
            )
            agent = future.result(timeout=WORKER_SECONDS)
            return agent, agent.about().result(timeout=WORKER_SECONDS)
        except Exception as error:  # of Dask, or of the worker
            if at in self.workers(CLIENT):
                raise TrialFailed(f"The client's worker {at} did not start its agent: {error}") from error
            raise TrialFailed(
                f"The client's worker {at} was lost before the trial.",
                "The next trials use the remaining workers.",
            ) from error

    def _call(self, function: Any, worker: str, *arguments: Any) -> Any:
        return self._client.submit(
            function, *arguments, workers=[worker], allow_other_workers=False, pure=False
        ).result()

    def _wait(self) -> None:
        def joined() -> bool:
            return bool(self.workers(SERVER) and self.workers(CLIENT))

        if not joined():
            self._observer.note(f"waiting for workers of {self.address} with the resources server and client")
            until(joined, WORKER_SECONDS, pause=POLL_SECONDS)
        for kind in (SERVER, CLIENT):
            if not self.workers(kind):
                raise RequestError(
                    f"--cluster {self.address}: no Dask worker of this scheduler has the resource {kind}.",
                    f'Start one with: {command(f"dask worker {self.address}")} --resources "{kind}=1"',
                )

    def _check(self) -> None:
        """Refuse a scheduler or workers with other packages or another Benchbook than this machine.

        With other packages they cannot read what this machine sends. Another Benchbook measures other numbers.
        """
        scheduler, ours = f"The scheduler {self.address}", about()
        versions = _answer(scheduler, self._client.get_versions)
        _require_same(scheduler, _packages(versions["scheduler"]), _packages(versions["client"]))
        theirs = _answer(scheduler, lambda: self._client.run_on_scheduler(about))
        _require_same(scheduler, {"Benchbook": theirs["source_digest"]}, {"Benchbook": ours["source_digest"]})
        for at in dict.fromkeys([*self.workers(SERVER), *self.workers(CLIENT)]):
            self._check_worker(at)

    def _check_worker(self, at: str) -> None:
        """Refuse a worker in the same way; later ones are checked when they get their first trial."""
        from distributed.versions import get_versions

        if at in self._checked:
            return
        worker, ours = f"The worker {at}", about(self._experiment)
        # ``run`` asks the worker itself, without the scheduler reading the question.
        packages = _answer(worker, lambda: self._client.run(get_versions, workers=[at])[at])
        _require_same(worker, _packages(packages), _packages(get_versions()))
        theirs = _answer(worker, lambda: self._client.run(about, self._experiment, workers=[at])[at])
        for name, key in (("Benchbook", "source_digest"), ("benchload", "benchload")):
            _require_same(f"{worker} on {theirs['host']}", {name: theirs[key]}, {name: ours[key]})
        self._checked.add(at)

    def _forward(self, event: tuple[float, Any]) -> None:
        """Forward a worker's report on the current trial to the observer."""
        _, message = event
        if isinstance(message, dict) and message.get("key") == self._key and message["what"] != "note":
            getattr(self._observer, message["what"])(*message["values"])


def _packages(versions: dict[str, Any] | None) -> dict[str, str]:
    """Return the versions that must be the same everywhere, as Dask reports them; empty if it reports none."""
    found = (versions or {}).get("packages") or {}
    python = ".".join(str(found.get("python")).split(".")[:2])
    return {"Python": python, **{name: str(found.get(name)) for name in PICKLED}} if found else {}


def _require_same(member: str, theirs: dict[str, str], ours: dict[str, str]) -> None:
    """Raise RequestError if a scheduler or worker differs from this machine."""
    for name, found in theirs.items():
        if found != ours[name]:
            raise RequestError(
                f"{member} has another {name} ({found}) than this machine ({ours[name]}).",
                f"Check out the same revision there, run {command('list')} there, and start the worker again.",
            )


def _answer(member: str, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what a scheduler or worker says about itself; raise RequestError if it cannot."""
    try:
        return within(WORKER_SECONDS, ask)
    except (ImportError, AttributeError) as error:
        raise RequestError(
            f"{member} cannot import this Benchbook ({error}).",
            f"Start it with {command('dask')} in a checkout of the same revision, or with the Python of its .bench.",
        ) from None
    except OSError as error:
        raise RequestError(f"{member} does not answer ({error}).", "Start it again.") from None
