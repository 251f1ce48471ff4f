"""Embedded systems, each in a separate process: ``python -m benchbook.workers`` is the worker.

The harness writes requests as JSON lines to its stdin. The worker writes benchload's events to its stdout, and ends
every request with a ``reply``. It ends at the end of stdin.
"""
