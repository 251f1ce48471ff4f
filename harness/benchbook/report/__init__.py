"""Reports: charts, tables and sentences for a run, and the page that contains them.

A ``.qmd`` in ``reports/`` holds the narrative and calls functions of this package; ``render`` turns it into one HTML
file that works without a network.
"""
