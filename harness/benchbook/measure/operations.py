"""Measurements of single operations: the latency of a phase, and what its open loop offered."""

from __future__ import annotations

from benchbook.measure.measurement import Event, Measurement

PERCENTILES = {
    "latency_p50": 50.0,
    "latency_p80": 80.0,
    "latency_p90": 90.0,
    "latency_p95": 95.0,
    "latency_p99": 99.0,
    "latency_p999": 99.9,
    "latency_max": 100.0,
}


def open_loop(phase: str, summary: Event) -> list[Measurement]:
    """Return the offered rate and whether it was not reached; nothing for a closed loop."""
    offered = summary.get("offered_per_second")
    if offered is None:
        return []
    return [
        Measurement(phase, "offered_per_second", float(offered)),
        Measurement(phase, "saturated", float(bool(summary.get("saturated")))),
    ]


def latency(phase: str, histograms: list[Event]) -> list[Measurement]:
    """Return mean, median, maximum and the measured percentiles of the latency of a phase's timed operations."""
    from benchbook.measure import histogram

    encoded = [event["encoded"] for event in _latency(histograms)]
    merged = histogram.merge(encoded) if encoded else None
    if merged is None or not merged.count:
        return []
    numbers = {"latency_mean": merged.mean_seconds}
    numbers |= {
        metric: merged.percentile(percent)
        for metric, percent in PERCENTILES.items()
        if merged.resolves(percent)
    }
    return [Measurement(phase, metric, value) for metric, value in numbers.items() if value is not None]


def _latency(histograms: list[Event]) -> list[Event]:
    """Return the histograms for latency: those from the intended start if there are any."""
    timed = [event for event in histograms if event.get("operation") != "warmup"]
    response = [event for event in timed if event.get("kind") == "response"]
    return response or [event for event in timed if event.get("kind") == "service"]
