"""Measurement: telemetry, histograms, steady state and counters, from samples to numbers."""
