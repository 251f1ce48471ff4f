"""The phases of a trial between the start and the stop of its system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.declare.dataset import Dataset
from benchbook.declare.workload import LoadOptions, QueryOptions
from benchbook.plan.plan import PlannedTrial
from benchbook.run import benchload
from benchbook.run.context import Context
from benchbook.run.findings import Findings
from benchbook.run.options import phase_options
from benchbook.run.stream import EventFile, required_summary
from benchbook.run.timeline import Timeline
from benchbook.systems.driver import Client, Driver
from benchbook.workloads import load, query


@dataclass
class Steps:
    """Drives a running system through the phases of the plan, in order."""

    context: Context
    planned: PlannedTrial
    dataset: Dataset
    digest: dict[str, Any]
    timeline: Timeline
    findings: Findings
    driver: Driver
    client: Client
    events: EventFile

    def all(self) -> None:
        """Do every phase; raise TrialFailed where one does not come to its end."""
        with self.timeline.phase("prepare"):
            self.driver.prepare()
        for phase in self.context.plan.phases:
            options = phase_options(phase, self.planned.levels)
            if isinstance(options, LoadOptions):
                self._load(phase["name"], options)
            else:
                self._query(phase["name"], options)
        self._answers()

    def _load(self, phase: str, options: LoadOptions) -> None:
        asked = benchload.request(self.dataset, self.digest)
        with self.timeline.phase(phase, "load"):
            taken = self.events.take(phase, self.client.load(load.request(options, asked)))
        self.findings.keep_errors(phase, taken.errors)
        summary = required_summary(taken, phase)
        with self.timeline.phase("settle") as settle:
            self.driver.settle()
        settle_seconds = settle.duration_seconds - self.driver.watched_seconds
        self.findings.measurements += load.measurements(
            phase, summary, settle_seconds, int(self.digest["bytes"])
        )
        self.findings.client_cpu(phase, summary)
        with self.timeline.phase("check"):
            self.findings.check_counts(self.digest, self.driver.count())
            self.findings.size(sum(self.driver.size().values()), int(self.digest["values"]))

    def _query(self, phase: str, options: QueryOptions) -> None:
        file = self.context.queries(self.dataset, options)
        with self.timeline.phase(phase, "query"):
            taken = self.events.take(phase, self.client.query(query.request(options, file)))
        self.findings.keep_errors(phase, taken.errors)
        summary = required_summary(taken, phase)
        self.findings.measurements += query.measurements(phase, summary, taken.histograms)
        self.findings.client_cpu(phase, summary)

    def _answers(self) -> None:
        """Keep the answers to the first queries of each type, outside the timed time."""
        with self.timeline.phase("answers"):
            for phase in self.context.plan.phases:
                options = phase_options(phase, self.planned.levels)
                if isinstance(options, QueryOptions):
                    file = self.context.queries(self.dataset, options)
                    asked = query.answers_request(options, file)
                    taken = self.events.take("answers", self.client.query(asked))
                    self.findings.keep_errors("answers", taken.errors)
                    kept = min(query.ANSWERS, options.queries)
                    self.findings.check(f"answers kept of {options.type}", kept, taken.answers)
