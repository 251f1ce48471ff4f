"""The findings of one trial: measurements, errors and checks."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchbook.errors import TrialInvalid
from benchbook.measure.measurement import Event, Measurement
from benchbook.measure.sampler import OVERHEAD
from benchbook.process import network
from benchbook.systems.driver import TableCount

REFUSAL_CHARACTERS = 110
"""Length of a refusal in the name of a check; its end is kept because that names the cause."""


@dataclass
class Findings:
    """Collects the numbers of a trial as it runs, so that they are kept if a later phase fails."""

    measurements: list[Measurement] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    unmeasured: dict[str, str] = field(default_factory=dict)
    """Metric that this trial could not measure → why."""
    client_cores: int = os.cpu_count() or 1
    """Cores that the client may use."""
    data_bytes: int | None = None
    """Bytes that a load with a duration sent; None: those of the dataset."""
    cache_states: dict[str, str] = field(default_factory=dict)
    """Phase → warm, cold or lukewarm, for phases that request a cache state."""

    def keep_errors(self, phase: str, events: list[Event]) -> None:
        """Keep the error events of a phase, with the server's messages."""
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
        """Compare a number with its expected value."""
        self.checks.append({"name": name, "expected": expected, "found": found, "ok": expected == found})

    def check_counts(
        self, digest: dict[str, Any], found: dict[str, TableCount], database: str | None = None
    ) -> None:
        """Compare the rows of every table and the values of every field with the dataset's digest."""
        where = f" of {database}" if database else ""
        for table, expected in digest["tables"].items():
            counted = found.get(table, TableCount(0))
            fullest = max(expected["fields"].values(), default=expected["rows"])
            if counted.exact or fullest == expected["rows"]:
                self.check(f"rows in {table}{where}", expected["rows"], counted.rows)
            else:  # the system counts only values, and no field is complete
                self.check(f"rows with the fullest field in {table}{where}", fullest, counted.rows)
            for name, values in expected["fields"].items():
                self.check(f"values in {table}.{name}{where}", values, counted.fields.get(name, 0))

    def check_written(
        self,
        digest: dict[str, Any],
        found: dict[str, TableCount],
        rows: int,
        values: int,
        database: str | None = None,
    ) -> None:
        """Compare what the system has after a load with a duration with what it acknowledged.

        Which tables the rows were of depends on when the load ended, so only their sums are known. A field that
        the dataset always fills has as many values as its table has rows.
        """
        where = f" of {database}" if database else ""
        if all(counted.exact for counted in found.values()):
            self.check(f"rows acknowledged{where}", rows, sum(one.rows for one in found.values()))
        held = sum(number for one in found.values() for number in one.fields.values())
        self.check(f"values acknowledged{where}", values, held)
        for table, expected in digest["tables"].items():
            counted = found.get(table, TableCount(0))
            for name, number in expected["fields"].items():
                if number == expected["rows"]:
                    self.check(f"values in {table}.{name}{where}", counted.rows, counted.fields.get(name, 0))

    def check_acknowledged(self, database: str, acknowledged: int, found: int, what: str = "values") -> None:
        """Check that the system has the rows (or values) that it acknowledged in a load with refusals.

        It may have more, because a refused write can be stored in part.
        """
        name = f"acknowledged {what} found in {database}, at least"
        self.checks.append(
            {"name": name, "expected": acknowledged, "found": found, "ok": found >= acknowledged}
        )

    def note_found(self, database: str, acknowledged: int, found: int, refusal: str = "") -> None:
        """Record what can be read back from a database that its system may lose, with the end of a refusal.

        Paths differ between trials and are removed, so that trials with the same outcome have the same check.
        """
        name = f"values read back from {database}, not required"
        if refusal:
            name += f": {re.sub(r'/[^ ]*/', '', refusal)[-REFUSAL_CHARACTERS:].strip()}"
        self.checks.append({"name": name, "expected": acknowledged, "found": found, "ok": True})

    def note_out_of_objects(self, phase: str, seconds: float) -> None:
        """Record that a phase ended before its duration because no object was left; its rates are over its time."""
        name = f"objects left after {phase}, which ended before its duration of {seconds:g} s"
        self.checks.append({"name": name, "expected": 0, "found": 0, "ok": True})

    def note_listening(self, beyond: int) -> None:
        """Record the number of addresses, beyond loopback and the configured host, on which the system listens."""
        self.checks.append({"name": network.CHECK, "expected": 0, "found": beyond, "ok": True})

    def client_cpu(self, phase: str, summary: Event) -> None:
        """Add the CPU time that the client reports for the timed period, and its share of the client's cores.

        If its workers waited for the file of single operations, they sent fewer requests, so the wait is recorded too.
        """
        cpu, duration = float(summary.get("client_cpu_ns") or 0) / 1e9, float(summary["duration_ns"]) / 1e9
        fraction = cpu / duration / self.client_cores if duration > 0 else 0.0
        self.measurements.append(Measurement(phase, "client_cpu_seconds", cpu))
        self.measurements.append(Measurement(phase, "client_cpu_fraction", fraction))
        if stalled := float(summary.get("record_stall_ns") or 0) / 1e9:
            self.measurements.append(Measurement(phase, "record_stall_seconds", stalled))

    def size(self, parts: Mapping[str, int], rows: int, values: int) -> None:
        """Add the bytes on disk, in total and by part, and per row and value."""
        whole = sum(parts.values())
        found = {
            "disk_bytes": float(whole),
            **{f"disk_{name}_bytes": float(size) for name, size in parts.items()},
        }
        found |= {"bytes_per_value": whole / values} if values else {}
        found |= {"bytes_per_row": whole / rows} if rows else {}
        self.measurements += [Measurement("trial", metric, value) for metric, value in found.items()]

    def leave_out_amounts(self, phase: str) -> None:
        """Drop the times and sizes of a phase with a duration: they show how much was done, not how fast."""
        times, sizes = ("acknowledged_seconds", "settled_seconds"), re.compile(r"disk_(\w+_)?bytes")
        self.measurements = [
            one
            for one in self.measurements
            if not (one.phase == phase and one.metric in times) and not sizes.fullmatch(one.metric)
        ]
        self.unmeasured |= dict.fromkeys(
            (*(f"{name} of {phase}" for name in times), "disk_bytes"),
            "phases with a duration do more on faster systems",
        )

    def telemetry(self, summary: Mapping[str, Mapping[str, float | None]], *, server: bool) -> None:
        """Add telemetry by phase, except the client's CPU: its summary covers the timed period alone.

        ``server`` says whether the server runs on this machine. Elsewhere neither its processes nor its disk are
        visible, and each such metric is recorded as unmeasured.
        """
        for phase, numbers in summary.items():
            for metric, value in numbers.items():
                if phase == OVERHEAD or metric == "client_cpu_seconds":
                    continue
                if not server and metric.startswith(("server_", "device_")):
                    self.unmeasured[metric] = (
                        "the server was already running, where this harness cannot measure it"
                    )
                elif value is not None:
                    self.measurements.append(Measurement(phase, metric, float(value)))

    def require_whole(self) -> None:
        """Raise TrialInvalid if data or answers are incomplete: such a trial is not comparable."""
        wrong = [check for check in self.checks if not check["ok"]]
        if wrong:
            first = wrong[0]
            more = f", and {len(wrong) - 1} more checks differ." if len(wrong) > 1 else "."
            raise TrialInvalid(f"{first['name']}: expected {first['expected']}, found {first['found']}{more}")
