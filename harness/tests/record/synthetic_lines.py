"""JSON Lines of a synthetic trial: events of loads and queries, answers, telemetry."""

from __future__ import annotations

import json
import math
import random
from functools import cache
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram

from tests.record.synthetic_facts import BYTES, QUERY_TYPES, ROWS, VALUES


def add_load(events: list[dict[str, Any]], seconds: float, count: int, chance: random.Random) -> None:
    events.append(
        {"phase": "load", "v": 1, "type": "start", "workload": "load", "workers": 1, "batch_rows": 5000}
    )
    for number in range(count):
        text, _ = histogram(0.012, 40, chance.randrange(3))
        done = {"operations": 40, "rows": ROWS // count, "values": VALUES // count, "bytes": BYTES // count}
        events.append(_interval("load", "write", number, seconds, count, **done, histogram=text))
    events.append(_whole("load", "write", 240, *histogram(0.012, 240, 1)))
    events.append(
        {
            "phase": "load", "v": 1, "type": "summary", "workload": "load", "duration_ns": int(1e9 * seconds),
            "operations": 240, "rows": ROWS, "values": VALUES, "bytes": BYTES, "errors": 0,
        }
    )  # fmt: skip


def add_query(
    events: list[dict[str, Any]], kind: str, seconds: float, count: int, text: str, numbers: tuple[float, ...]
) -> None:
    events.append(
        {"phase": kind, "v": 1, "type": "start", "workload": "query", "workers": 1, "operations": 200}
    )
    events.append(_whole(kind, "warmup", 10, *histogram(2 * numbers[1], 10, 0)))
    for number in range(count):
        part = histogram(numbers[1], 200 // count, number)[0]
        events.append(
            _interval(kind, "query", number, seconds, count, operations=200 // count, histogram=part)
        )
    events.append(_whole(kind, "query", 200, text, numbers))
    events.append(
        {
            "phase": kind, "v": 1, "type": "summary", "workload": "query", "duration_ns": int(1e9 * seconds),
            "operations": 200, "errors": 0,
        }
    )  # fmt: skip


def _interval(
    phase: str, operation: str, index: int, seconds: float, count: int, **done: Any
) -> dict[str, Any]:
    length = seconds / count
    return {
        "phase": phase, "v": 1, "type": "interval", "operation": operation, "index": index,
        "start_ns": int(1e9 * index * length), "duration_ns": int(1e9 * length),
        "operations": 0, "rows": 0, "values": 0, "bytes": 0, "errors": 0, **done,
    }  # fmt: skip


def _whole(phase: str, operation: str, count: int, text: str, numbers: tuple[float, ...]) -> dict[str, Any]:
    return {
        "phase": phase, "v": 1, "type": "histogram", "operation": operation, "kind": "service", "unit": "ns",
        "count": count, "min_ns": int(0.3e9 * numbers[0]), "mean_ns": 1e9 * numbers[0],
        "max_ns": int(1e9 * numbers[-1]), "encoded": text,
    }  # fmt: skip


def histogram(median: float, count: int, seed: int) -> tuple[str, tuple[float, ...]]:
    """Return a log-normal histogram with about this median (s), and its mean, p50 … max (s)."""
    return _drawn(float(f"{median:.1e}"), count, seed % 3)  # encoding is slow: draw few different ones


@cache
def _drawn(median: float, count: int, seed: int) -> tuple[str, tuple[float, ...]]:
    histogram = HdrHistogram(1000, 3_600_000_000_000, 3)
    chance = random.Random(seed)
    for _ in range(count):
        histogram.record_value(int(1e9 * median * math.exp(chance.gauss(0, 0.25))))
    numbers = [histogram.get_mean_value() / 1e9]
    numbers += [histogram.get_value_at_percentile(p) / 1e9 for p in (50, 90, 95, 99, 99.9, 100)]
    return histogram.encode().decode(), tuple(numbers)


def answers(instances: int, *, wrong: bool) -> list[dict[str, Any]]:
    made = []
    for kind in QUERY_TYPES:
        for number in range(instances):
            rows = [list(row) for row in _answer(kind, number)]
            if wrong and number == 3:
                rows[2][2] = float(rows[2][2]) + 0.5
            made.append(
                {
                    "phase": "answers", "v": 1, "type": "answer", "id": number, "query_type": kind,
                    "columns": ["time_ns", "host", "max_usage_user"], "rows": rows,
                }
            )  # fmt: skip
    return made


@cache
def _answer(kind: str, number: int) -> tuple[tuple[int, str, float], ...]:
    chance = random.Random(f"{kind}/{number}")
    begin = 1_767_225_600_000_000_000 + chance.randrange(3600) * 1_000_000_000
    return tuple(
        (begin + minute * 60_000_000_000, f"host_{number % 10}", chance.uniform(0, 100))
        for minute in range(5)
    )


def telemetry(seconds: int, chance: random.Random) -> list[dict[str, Any]]:
    samples = []
    for second in range(seconds):
        phase = "load" if second == 0 else "groupby"
        for scope, metric, value, unit in (
            ("server", "cpu_user_seconds", second * 0.7, "s"),
            ("server", "cpu_system_seconds", second * 0.1, "s"),
            ("server", "rss_bytes", 120e6 + 8e6 * second, "B"),
            ("server", "read_bytes", 0.0, "B"),
            ("server", "write_bytes", 1e6 * second, "B"),
            ("client", "cpu_user_seconds", second * 0.3, "s"),
            ("client", "rss_bytes", 60e6, "B"),
            ("machine", "cpu_steal_seconds", 0.01 * second, "s"),
            ("machine", "psi_cpu_some_seconds", second * chance.uniform(0, 0.05), "s"),
            ("harness", "cpu_user_seconds", second * 0.001, "s"),
        ):
            samples.append(
                {
                    "phase": phase, "seconds": second + 0.5, "scope": scope, "metric": metric,
                    "value": value, "unit": unit,
                }
            )  # fmt: skip
    return samples


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
