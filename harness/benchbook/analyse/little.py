"""Little's law: operations in flight are the rate times the mean latency; where not, something is unsaid."""

from __future__ import annotations

from dataclasses import dataclass

TOLERANCE = 0.1
"""Relative difference from which a mismatch is flagged."""


@dataclass(frozen=True)
class Little:
    """What Little's law says of one trial or one published row."""

    expected: float
    """Rate times mean latency, operations."""
    in_flight: float
    """Operations in flight as stated (workers times operations each)."""
    ok: bool

    @property
    def sentence(self) -> str:
        """Say it in words."""
        agreed = "agrees with" if self.ok else "does not agree with"
        in_flight = f"{self.in_flight:.3g} operations in flight"
        return f"rate times mean latency, {self.expected:.3g}, {agreed} {in_flight}"


def check(rate: float, latency: float, in_flight: float, tolerance: float = TOLERANCE) -> Little:
    """Check a rate (1/s) and a mean latency (s) against the operations in flight.

    >>> check(1000.0, 0.004, 4).ok
    True
    >>> check(1000.0, 0.001, 4).sentence
    'rate times mean latency, 1, does not agree with 4 operations in flight'
    """
    expected = rate * latency
    return Little(expected, in_flight, abs(expected - in_flight) <= tolerance * max(expected, in_flight))
