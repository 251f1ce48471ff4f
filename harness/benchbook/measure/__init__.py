"""Measurement: telemetry, histograms, steady state and counters, from samples to numbers."""

from benchbook.measure.sampler import Telemetry

__all__ = ["Telemetry"]
