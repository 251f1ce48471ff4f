"""Benchbook: reproducible benchmarks of databases and storage, with notebook reports.

The data goes one way through the packages: declare, plan, run, record, analyse, report.
A later stage never calls an earlier one.
"""

__version__ = "0.1.0"
