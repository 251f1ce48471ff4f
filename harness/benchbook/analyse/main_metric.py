"""The metrics that a table shows where nobody asks for all of them."""

from __future__ import annotations

MAIN = (
    "rows_per_second",
    "settled_seconds",
    "queries_per_second",
    "latency_p50",
    "latency_p99",
    "disk_bytes",
)


def is_main(metric: str) -> bool:
    """Say whether a metric is one of them."""
    return metric in MAIN
