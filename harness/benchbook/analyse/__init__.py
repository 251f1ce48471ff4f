"""Analyse: intervals, ratios, histograms and checks over recorded trials; no files, no clocks."""
