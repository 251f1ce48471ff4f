"""The report stage: charts, tables and sentences for a run, and the page that carries them.

A ``.qmd`` under ``reports/`` holds the narrative and calls functions of this package; ``render``
turns it into one HTML file that needs no network.
"""
