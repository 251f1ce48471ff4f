"""Entry point of the worker: ``python -m benchbook.embedded``."""

from benchbook.embedded.worker import main

main()
