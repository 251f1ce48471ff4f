"""The workload ``load``: load the dataset as fast as it is acknowledged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from benchbook.declare.dataset import Dataset, Digested
from benchbook.declare.duration import Duration, seconds
from benchbook.declare.metric import SERIES
from benchbook.declare.workload import Metric, Options, Workers, Workload, having
from benchbook.errors import TrialFailed
from benchbook.measure import steady
from benchbook.measure.measurement import Event, Measurement
from benchbook.measure.operations import latency
from benchbook.measure.rate import per_second

if TYPE_CHECKING:
    from benchbook.run.benchload import Calibration
    from benchbook.run.ceiling import Alone
    from benchbook.run.context import Context
    from benchbook.run.steps import Steps
    from benchbook.systems.driver import DatasetRequest, LoadRequest, TableCount


class LoadOptions(Options):
    """Options of the workload ``load``: the dataset into an empty database, whole or for a time."""

    duration: Duration | None = None
    """For how long writes begin. By default, the dataset is loaded once. The load ends before the dataset does, or
    continues with rows that follow it in time. If a later phase of the trial reads the dataset, the load continues
    after the duration until the dataset is complete; rates leave that part out, and are unknown if no write ends within
    the duration."""
    batch_size: Annotated[int, Field(ge=1, le=4_194_304)] = 5000
    """Rows per write."""
    workers: Workers = 1
    """Writes in flight of each client."""
    clients: Annotated[int, Field(ge=1, le=64)] = 1
    """Client processes; each loads the whole dataset into a separate database at the same time."""
    gzip: bool = False
    """Compress the body of a write; embedded systems ignore it."""
    timeout: Duration = "30s"
    """Longest time for one write."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """Number of retries of a write that fails with status 429 or 5xx."""
    expects: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list)
    """Texts in error messages of expected refusals. The report counts and shows these, and the load continues; any
    other refusal fails the trial. Example: ``["partial write"]``."""

    def copies(self) -> int:
        """Return the number of clients."""
        return self.clients


def request(options: LoadOptions, dataset: DatasetRequest, *, read_later: bool = False) -> LoadRequest:
    """Return the request that a client is given; ``read_later``: a later phase reads the dataset, so all of it."""
    from benchbook.systems.driver import LoadRequest

    return LoadRequest(
        dataset=dataset,
        workers=options.workers,
        batch_rows=options.batch_size,
        gzip=options.gzip,
        timeout_seconds=seconds(options.timeout),
        retries=options.retries,
        keep_going=bool(options.expects),
        lasts_seconds=None if options.duration is None else seconds(options.duration),
        whole=options.duration is not None and read_later,
    )


def sent(options: LoadOptions, summary: Event, digest: Digested, what: Literal["bytes", "values"]) -> int:
    """Return the bytes (or values) of the rows that all clients sent, as the dataset's digest counts them.

    A load without a duration sends the dataset. With one it sends other rows too, which are as large on average.

    >>> sent(LoadOptions(duration="1s"), {"rows": 30, "rows_refused": 10}, {"rows": 20, "bytes": 500}, "bytes")
    1000
    """
    if options.duration is None:
        return int(digest[what]) * options.clients
    rows = int(summary["rows"]) + int(summary.get("rows_refused") or 0)
    return int(digest[what]) * rows // int(digest["rows"])


def expected(options: LoadOptions, error: Event) -> bool:
    """Return whether the experiment expects a refusal: the server answered with one of the declared messages."""
    answered = int(error.get("status") or 0) > 0
    return answered and any(words in str(error.get("message")) for words in options.expects)


def measurements(
    phase: str,
    summary: Event,
    settle_seconds: float,
    dataset_bytes: int,
    found: float = 1.0,
    *,
    window: bool = False,
) -> list[Measurement]:
    """Return the metrics of a load.

    A row counts if it was acknowledged and the system has it afterwards; ``found`` is the share of acknowledged rows
    for which that holds. The rates named ``acknowledged`` also count the acknowledged rows that were lost, as clients
    do that never look again. ``rows_per_second_attempted`` counts every row that was sent, like a client that counts
    refused writes as loaded. Bytes are those of the dataset in line protocol, scaled to the rows that count, so that
    systems with different formats are compared by the same work.

    Rates are over the time from the start to the last answer of all clients. With ``window``, they are over the
    duration of the load, because it continues afterwards or begins its writes at a fixed pace.
    """
    acknowledged = float(summary["duration_ns"]) / 1e9
    sent, values = float(summary["rows"]), float(summary["values"]) * found
    rows = sent * found
    refused = float(summary.get("rows_refused") or 0)
    attempted = sent + refused
    share = rows / attempted if attempted else 0.0
    rate = per_second(summary, "rows") if window else 1 / acknowledged if acknowledged else 0.0
    return [
        Measurement(phase, "rows_per_second", rows * rate),
        Measurement(phase, "values_per_second", values * rate),
        Measurement(phase, "bytes_per_second", dataset_bytes * share * rate),
        Measurement(phase, "rows_per_second_acknowledged", sent * rate),
        Measurement(phase, "values_per_second_acknowledged", float(summary["values"]) * rate),
        Measurement(phase, "rows_per_second_attempted", attempted * rate),
        Measurement(phase, "acknowledged_seconds", acknowledged),
        Measurement(phase, "settled_seconds", acknowledged + settle_seconds),
        Measurement(phase, "rows", sent),
        Measurement(phase, "rows_found", rows),
        Measurement(phase, "rows_refused", refused),
        Measurement(phase, "acknowledged_fraction", sent / attempted if attempted else 0.0),
        Measurement(phase, "retries", float(summary.get("retries") or 0)),
    ]


def run(steps: Steps, phase: str, options: LoadOptions) -> None:
    """Load the dataset, let the system settle, compare what it stores with what it acknowledged."""
    from benchbook.run import benchload, content
    from benchbook.run.findings import required_summary

    context, rows = steps.context, None
    if steps.dataset.source:
        content.require_same(context.catalogue, steps.dataset)
        rows = content.arrow_file(context.results, steps.dataset)
    asked_for = request(
        options, benchload.request(steps.dataset, steps.digest, rows), read_later=_is_read_after(steps, phase)
    )
    asked = replace(asked_for, record=steps.operations(phase))
    with steps.timeline.phase(phase, workload.name):
        taken = steps.events.take(phase, steps.client.load(asked))
    steps.findings.keep_errors(phase, taken.errors)
    summary = required_summary(taken, phase)
    _refuse_unexpected(phase, options, taken.errors)
    with steps.timeline.phase("settle") as settle:
        steps.driver.settle()
    settle_seconds = settle.duration_seconds - steps.driver.watched_seconds
    with steps.timeline.phase("check"):
        share = _found(steps, options, summary)
        values = int(summary["values"]) or sent(options, summary, steps.digest, "values")
        steps.findings.size(steps.driver.size(), int(summary["rows"]), values)
    sent_bytes = sent(options, summary, steps.digest, "bytes")
    if options.duration is not None:
        steps.findings.data_bytes = sent_bytes
    steps.findings.measurements += measurements(
        phase, summary, settle_seconds, sent_bytes, share, window=asked.whole
    )
    steps.findings.measurements += steady.measurements(
        phase, taken.intervals, share, in_flight=options.clients * options.workers,
        by_time=options.duration is not None and not asked.whole,
    )  # fmt: skip
    steps.findings.measurements += latency(phase, taken.histograms)
    steps.findings.client_cpu(phase, summary)
    if options.duration is not None:
        steps.findings.leave_out_amounts(phase)
        if asked.whole and none_in_time(summary):
            steps.findings.leave_out_rates(
                phase, f"the load is timed for its first {options.duration}, and the first write took longer"
            )


def none_in_time(summary: Event) -> bool:
    """Return whether rows were acknowledged, but none within the duration of the load."""
    return int(summary["rows"]) > 0 and per_second(summary, "rows") == 0


def _is_read_after(steps: Steps, load_phase: str) -> bool:
    """Return whether a phase after ``load_phase`` asks for the dataset."""
    phases = steps.context.plan.phases
    later = phases[[phase.name for phase in phases].index(load_phase) + 1 :]
    reading = having(lambda one: one.reads)
    return any(phase.workload in reading and phase.done_at(steps.planned.levels) for phase in later)


def _found(steps: Steps, options: LoadOptions, summary: Event) -> float:
    """Compare the content of every database with what was acknowledged; return the share that is stored."""
    from benchbook.systems.driver import databases

    names = databases(options.clients)
    not_required = getattr(steps.driver, "not_required", ())
    counts: list[tuple[int, int]] = []
    alone = options.model_copy(update={"clients": 1})
    for database, client in zip(names, summary.get("clients") or [summary], strict=True):
        values = int(client["values"]) or sent(alone, client, steps.digest, "values")
        counted, refusal = _counted(steps, database, required=database not in not_required)
        found, what = sum(number for one in counted.values() for number in one.fields.values()), "values"
        if client.get("rows_refused") and all(one.exact for one in counted.values()):
            # For a batch refused in part, benchload knows which rows were accepted, not their values.
            values, found, what = int(client["rows"]), sum(one.rows for one in counted.values()), "rows"
        counts.append((values, found))
        if database in not_required:
            steps.findings.note_found(database, values, found, refusal)
        elif client.get("rows_refused"):
            steps.findings.check_acknowledged(database, values, found, what)
        elif options.duration is not None:
            where = database if len(names) > 1 else None
            steps.findings.check_written(steps.digest, counted, int(client["rows"]), values, where)
        else:
            steps.findings.check_counts(steps.digest, counted, database if len(names) > 1 else None)
    return share_found(counts)


def share_found(databases: Sequence[tuple[int, int]]) -> float:
    """Return the share of acknowledged values that are stored, from the two numbers of each database.

    What one database has too many does not make up for what another one lost.

    >>> share_found([(100, 90), (100, 110)])
    0.95
    """
    acknowledged = sum(values for values, _ in databases)
    stored = sum(min(values, found) for values, found in databases)
    return stored / acknowledged if acknowledged else 1.0


def _counted(steps: Steps, database: str, *, required: bool) -> tuple[dict[str, TableCount], str]:
    """Return the content of a database, and the system's refusal to count it if that is permitted."""
    from benchbook.systems.driver import SeveralDatabases

    try:
        if isinstance(steps.driver, SeveralDatabases):
            return steps.driver.count_in(database), ""
        return steps.driver.count(), ""
    except TrialFailed as refused:
        if required:
            raise
        return {}, str(refused)  # that the database is unreadable is a result


def _refuse_unexpected(phase: str, options: LoadOptions, errors: list[Event]) -> None:
    """Raise TrialFailed for a refusal that the experiment does not expect."""
    for event in errors:
        if options.expects and not expected(options, event):
            raise TrialFailed(
                f"{phase}: the system refused {event.get('operations')} writes for a reason that the experiment does "
                f"not expect: {event.get('message')}",
                f"The phase's option `expects` allows only: {', '.join(options.expects)}. If this refusal is part of"
                " the test, add a part of its message there.",
            )


def alone(context: Context, dataset: Dataset) -> list[Alone]:
    """Return the different loads of the trials into a server that discards rows, and their encodings.

    Without a load, the default one.
    """
    from benchbook.run.ceiling import Alone

    if dataset.generator == "blob":
        return []  # objects are put, not loaded
    loads = [
        options
        for trial in context.plan.trials
        for phase in context.plan.phases
        if isinstance(options := phase.replaced(trial.levels), LoadOptions)
    ]
    asked = dict.fromkeys(_calibration(context, one) for one in loads or [LoadOptions()])
    sending = [
        Alone(
            ("load", dataset.generator, *dataset.flags(), *one.flags()), served=True, about=_about(one),
            calibration=one,
        )
        for one in asked
    ]  # fmt: skip
    return [*sending, *_encodings(context, dataset)]


SERVED_PROTOCOL = "influx"
"""Benchload's name of the protocol that the null server speaks."""


def _encodings(context: Context, dataset: Dataset) -> list[Alone]:
    """Return a load that sends nothing for each protocol, other than the null server's, and each kind of load."""
    from benchbook.run.ceiling import Alone
    from benchbook.systems.driver import driver_class

    found: dict[tuple[str, ...], Alone] = {}
    for trial in context.plan.trials:
        system = context.system(str(trial.levels["system"]))
        # Embedded systems, and tools and databases with a client of their own, have no protocol of benchload.
        protocol = getattr(driver_class(system.driver), "target", None) if not system.embedded else None
        for phase in context.plan.phases:
            options = phase.replaced(trial.levels)
            if protocol in (None, SERVED_PROTOCOL) or not isinstance(options, LoadOptions):
                continue
            asked = _calibration(context, options)
            arguments = (
                "load", dataset.generator, *dataset.flags(), *asked.flags(), f"--target={protocol}", "--dry-run",
            )  # fmt: skip
            one = Alone(arguments, served=False, about={**_about(asked), "systems": []}, may_fail=True)
            systems = found.setdefault(arguments, one).about["systems"]
            if system.name not in systems:
                systems.append(system.name)
    return list(found.values())


def _about(asked: Calibration) -> dict[str, Any]:
    return {"batch_size": asked.batch_rows, "workers": asked.workers}


def _calibration(context: Context, options: LoadOptions) -> Calibration:
    from benchbook.run.benchload import Calibration
    from benchbook.run.ceiling import lasting_seconds

    return Calibration(options.batch_size, options.workers, options.gzip, lasting_seconds(context))


workload = Workload(
    name="load",
    files=True,
    options=LoadOptions,
    run=run,
    metrics=(
        *SERIES,
        "bytes_per_second",
        Metric(
            "rows_per_second_attempted",
            "1/s",
            "none",
            "Rows sent per second, acknowledged or not",
            "rows",
            "rows/s sent",
        ),
        Metric("rows_found", "1", "none", "Acknowledged rows found afterwards", "rows"),
        Metric("rows_refused", "1", "lower", "Rows refused", "rows"),
        Metric("acknowledged_fraction", "1", "higher", "Share of the sent rows that was acknowledged"),
    ),
    compared=("rows_per_second",),
    alone=alone,
    loads=True,
    paced=True,
)
