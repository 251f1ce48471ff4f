"""Embedded systems, each in a process of its own: ``python -m benchbook.embedded`` is the worker.

The harness writes requests as JSON lines to its stdin; the worker answers with the same event lines as
benchload on its stdout, and ends every request with a ``reply``. The end of stdin is the end of the worker.
"""
