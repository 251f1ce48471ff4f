"""The workload ``query``: run queries of one type, the same set in the same order for every system."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from benchbook.declare.dataset import Dataset
from benchbook.declare.duration import Duration, seconds
from benchbook.declare.metric import DATA_READ, LATENCY, OPEN_LOOP
from benchbook.declare.toml import Positive
from benchbook.declare.workload import LoopOptions, Rate, Workers, Workload, refuse_two_ends
from benchbook.measure.answered import suspects
from benchbook.measure.measurement import Event, Measurement
from benchbook.measure.operations import latency, open_loop
from benchbook.measure.rate import to_last_answer
from benchbook.plan.plan import PlannedTrial

if TYPE_CHECKING:
    from benchbook.run.ceiling import Alone
    from benchbook.run.context import Context
    from benchbook.run.steps import Steps
    from benchbook.systems.driver import QueryRequest

DevopsQuery = Literal["1-host-1-hr", "1-host-12-hr", "8-host-1-hr", "groupby", "groupby-max"]
IotQuery = Literal[
    "last-loc", "low-fuel", "high-load", "stationary-trucks", "long-driving-sessions", "avg-load"
]
Question = Literal[
    "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12", "q13", "q14", "q15", "q16", "q17",
    "q18", "q19", "q20", "q21", "q22", "q23", "q24", "q25", "q26", "q27", "q28", "q29", "q30", "q31", "q32", "q33",
    "q34", "q35", "q36", "q37", "q38", "q39", "q40", "q41", "q42", "q43",
    "small-inner", "medium-inner", "medium-left", "medium-inner-text", "big-inner",
]  # fmt: skip
"""A question without parameters: q1 to q43 of the dataset ``hits``, q1 to q10 of ``frames``, the others of
``join-frames``."""


CacheState = Literal["warm", "cold"]

QUERIES = 100
"""Timed queries of a phase that gives neither a number nor a duration."""
QUERIES_OF_DURATION = 1000
"""Different queries of a phase with a duration, which asks them again and again."""


class AskOptions(LoopOptions):
    """Options of a workload that asks queries of one type."""

    type: str
    queries: Positive | None = None
    duration: Duration | None = None
    workers: Workers = 1
    """Queries in flight."""
    warmup: Annotated[int, Field(ge=0)] = 0
    """Queries before the timed ones; the results mark them as warm-up."""
    timeout: Duration = "30s"
    """Longest time for one query."""
    cache: CacheState = "warm"
    """``cold``: before the first query, Benchbook stops the system, drops all caches of the storage and starts the
    system again. The report says "lukewarm" if it could not drop a cache."""

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        refuse_two_ends("queries", self.queries, self.duration)
        return self

    @property
    def different(self) -> int:
        """The number of different queries."""
        raise NotImplementedError

    @property
    def identity(self) -> str:
        """What tells its queries apart from others about the same dataset."""
        return self.type

    @property
    def lasts_seconds(self) -> float | None:
        """For how long queries begin; None until each was asked once."""
        return None if self.duration is None else seconds(self.duration)


class QueryOptions(AskOptions):
    """Options of the workload ``query``: run queries of one type, the same for every system."""

    type: DevopsQuery | IotQuery | Question
    queries: Positive | None = None
    """Timed queries, each asked once; 100 if there is no duration either."""
    duration: Duration | None = None
    """For how long queries begin, in place of a number of them: 1000 different ones, again and again."""

    @model_validator(mode="after")
    def _lasting(self) -> Self:
        if self.type in get_args(Question) and self.duration is None:
            raise ValueError(f"type {self.type} is one question, which is repeated; give a duration")
        return self

    @property
    def different(self) -> int:
        """The number of different queries: one question without parameters, or many."""
        if self.type in get_args(Question):
            return 1
        return self.queries or (QUERIES if self.duration is None else QUERIES_OF_DURATION)


ANSWERS = 20
"""Answers of each type that are stored and compared across systems."""


def request(options: AskOptions, queries: Path) -> QueryRequest:
    """Return the request for the timed queries."""
    from benchbook.systems.driver import QueryRequest

    return QueryRequest(
        queries=queries,
        workers=options.workers,
        warmup=options.warmup,
        timeout_seconds=seconds(options.timeout),
        lasts_seconds=options.lasts_seconds,
        rate=options.rate,
        arrivals=options.arrivals,
    )


def answers_request(options: AskOptions, queries: Path, also: tuple[int, ...] = ()) -> QueryRequest:
    """Return the request for untimed answers; ``also`` has the ids of queries of which only digests are wanted."""
    from benchbook.systems.driver import QueryRequest

    return QueryRequest(queries=queries, timeout_seconds=seconds(options.timeout), answers=ANSWERS, also=also)


def measurements(phase: str, summary: Event, histograms: list[Event]) -> list[Measurement]:
    """Return the metrics of a query phase; percentiles come from the merged histograms of its timed operations."""
    operations = float(summary["operations"])
    found = [
        Measurement(phase, "queries_per_second", operations * to_last_answer(summary)),
        Measurement(phase, "queries", operations),
        Measurement(phase, "errors", float(summary.get("errors") or 0)),
        Measurement(phase, "retries", float(summary.get("retries") or 0)),
    ]
    return [*found, *open_loop(phase, summary), *latency(phase, histograms)]


def prepare(context: Context, dataset: Dataset, options: QueryOptions) -> None:
    """Write the query set of a phase, before the first trial."""
    from benchbook.run import benchload

    key = set_key(dataset, options)
    if key not in context.query_files:
        context.query_files[key] = benchload.queries(
            context.benchload, dataset, options.type, options.different, context.folder / "queries"
        )


def query_set(context: Context, dataset: Dataset, options: AskOptions) -> Path:
    """Return the query set of a phase."""
    return context.query_files[set_key(dataset, options)]


def set_key(dataset: Dataset, options: AskOptions) -> tuple[tuple[str, ...], str, int]:
    """Return what identifies a query set in a run."""
    return dataset.flags(), options.identity, options.different


def run(steps: Steps, phase: str, options: AskOptions) -> None:
    """Run the queries of one type."""
    ask(steps, phase, options, workload.name)


def ask(steps: Steps, phase: str, options: AskOptions, named: str) -> None:
    """Ask the queries of a phase of the workload ``named``."""
    from benchbook.run.findings import required_summary
    from benchbook.run.steps import COLD, make_cold

    file = query_set(steps.context, steps.dataset, options)
    cold = make_cold(steps) if options.cache == COLD else None
    asked = replace(request(options, file), record=steps.operations(phase))
    with steps.timeline.phase(phase, named):
        taken = steps.events.take(phase, steps.client.query(asked))
    steps.findings.cache_states[phase] = cold or steps.warmth()
    if cold:
        steps.findings.asked_cold.add(phase)
    steps.findings.keep_errors(phase, taken.errors)
    summary = required_summary(taken, phase)
    steps.findings.timed_answers[phase] = taken.answered
    steps.findings.measurements += measurements(phase, summary, taken.histograms)
    steps.findings.client_cpu(phase, summary)
    cached = steps.storage.cached_bytes()
    if cached is not None:
        steps.findings.measurements.append(Measurement(phase, "data_cached_bytes", float(cached)))
    if data := steps.storage.bytes():  # 0 for a server elsewhere
        steps.findings.measurements.append(Measurement(phase, "data_bytes", float(data)))


def keep_answers(steps: Steps, phase: str, options: AskOptions) -> None:
    """Store the answers to the first queries of the type, and check what was answered while the phase was timed."""
    also = suspects(steps.findings.timed_answers.get(phase, ()), ANSWERS)
    asked = answers_request(options, query_set(steps.context, steps.dataset, options), also)
    taken = steps.events.take("answers", steps.client.query(asked))
    steps.findings.keep_errors("answers", taken.errors)
    kept = min(ANSWERS, options.different)
    steps.findings.check("answers", f"answers kept of {options.type}", kept, taken.answers)
    steps.findings.check_timed_answers(phase, taken.answered)


def alone(context: Context, _: Dataset) -> list[Alone]:
    """Return the queries of each phase, asked of a server that answers at once."""
    from benchbook.run.ceiling import Alone, of_phases

    def of(dataset: Dataset, _: PlannedTrial, options: QueryOptions) -> Alone:
        file = query_set(context, dataset, options)
        arguments = ("query", f"--queries={file}", f"--workers={options.workers}")
        return Alone(arguments, served=True, about={"workers": options.workers})

    return of_phases(context, workload.name, of)


METRICS = ("queries_per_second", "queries", "errors", "retries", *OPEN_LOOP, *LATENCY, *DATA_READ)
"""The metrics of every workload that asks questions."""
RATE = Rate("queries_per_second", "operations_per_second", "queries_per_second")

workload = Workload(
    name="query",
    options=QueryOptions,
    run=run,
    metrics=METRICS,
    compared=("latency_p50",),
    rate=RATE,
    prepare=prepare,
    alone=alone,
    after=keep_answers,
    queries=True,
    reads=True,
    paced=True,
)
