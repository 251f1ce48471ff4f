"""What one trial found: measurements, errors and checks, and the verdict that rests on them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchbook.errors import TrialInvalid
from benchbook.systems.driver import Event, TableCount
from benchbook.telemetry.metric import SUMMARY
from benchbook.telemetry.sampler import OUTSIDE
from benchbook.workloads.measurement import Measurement


@dataclass
class Findings:
    """Collects the numbers of a trial while it goes; what was found stays when a later phase fails."""

    measurements: list[Measurement] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)

    def keep_errors(self, phase: str, events: list[Event]) -> None:
        """Keep the error events of a phase, in the server's own words."""
        for event in events:
            self.errors.append(
                {
                    "phase": phase,
                    "kind": str(event.get("kind")),
                    "status": event.get("status"),
                    "message": str(event.get("message")),
                    "operations": int(event.get("operations") or 0),
                    "rows": int(event.get("rows") or 0),
                }
            )

    def check(self, name: str, expected: int, found: int) -> None:
        """Hold a number against what it has to be."""
        self.checks.append({"name": name, "expected": expected, "found": found, "ok": expected == found})

    def check_counts(self, digest: dict[str, Any], found: dict[str, TableCount]) -> None:
        """Hold the rows of every table and the values of every field against the dataset's digest."""
        for table, expected in digest["tables"].items():
            counted = found.get(table, TableCount(0))
            self.check(f"rows in {table}", expected["rows"], counted.rows)
            for name, values in expected["fields"].items():
                self.check(f"values in {table}.{name}", values, counted.fields.get(name, 0))

    def client_cpu(self, phase: str, summary: Event) -> None:
        """Add what the client used over the timed time, as it says itself."""
        cpu, duration = float(summary.get("client_cpu_ns") or 0) / 1e9, float(summary["duration_ns"]) / 1e9
        fraction = cpu / duration / (os.cpu_count() or 1) if duration > 0 else 0.0
        self.measurements.append(Measurement(phase, "client_cpu_seconds", cpu, "s", "lower"))
        self.measurements.append(Measurement(phase, "client_cpu_fraction", fraction, "1", "lower"))

    def size(self, disk_bytes: int, values: int) -> None:
        """Add the bytes on disk."""
        self.measurements.append(Measurement("trial", "disk_bytes", float(disk_bytes), "B", "lower"))
        self.measurements.append(Measurement("trial", "bytes_per_value", disk_bytes / values, "B", "lower"))

    def telemetry(self, summary: Mapping[str, Mapping[str, float | None]]) -> None:
        """Add the sums of telemetry by phase; the client's CPU is in its own summary, over the timed time alone."""
        for phase, numbers in summary.items():
            for metric, value in numbers.items():
                if phase != OUTSIDE and value is not None and metric != "client_cpu_seconds":
                    kind = SUMMARY[metric]
                    self.measurements.append(
                        Measurement(phase, metric, float(value), kind.unit, kind.direction)
                    )

    def require_whole(self) -> None:
        """Raise TrialInvalid where data or answers are not whole: such a trial may not be compared."""
        wrong = [check for check in self.checks if not check["ok"]]
        if wrong:
            first = wrong[0]
            more = f", and {len(wrong) - 1} more checks differ." if len(wrong) > 1 else "."
            raise TrialInvalid(f"{first['name']}: {first['expected']} expected, {first['found']} found{more}")
