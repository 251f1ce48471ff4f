"""Latencies in HDR histograms, in the range and the form that benchload writes them in."""

from __future__ import annotations

from hdrh.histogram import HdrHistogram

LOWEST_NS, HIGHEST_NS, DIGITS = 1, 3_600_000_000_000, 3


class Latencies:
    """Latencies of one kind of operation, in ns. Values outside the range count at its border."""

    def __init__(self) -> None:
        self._histogram = HdrHistogram(LOWEST_NS, HIGHEST_NS, DIGITS)
        self.count = 0
        self.sum_ns = 0
        self.min_ns = 0
        self.max_ns = 0

    def add(self, latency_ns: int) -> None:
        """Count one latency."""
        self._histogram.record_value(min(max(latency_ns, LOWEST_NS), HIGHEST_NS))
        self.min_ns = latency_ns if self.count == 0 else min(self.min_ns, latency_ns)
        self.max_ns = max(self.max_ns, latency_ns)
        self.sum_ns += latency_ns
        self.count += 1

    def mean_ns(self) -> float:
        """Return the mean, 0 where there is none."""
        return self.sum_ns / self.count if self.count else 0.0

    def encoded(self) -> str:
        """Return the whole histogram in the compressed V2 format, in base64."""
        return str(self._histogram.encode().decode())
