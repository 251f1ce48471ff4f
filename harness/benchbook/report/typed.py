"""Commands on pages, as one types them where the run belongs: in a clone of Benchbook, or in a project."""

from __future__ import annotations

from benchbook.analyse.run import Run
from benchbook.record.rerun import of_declarations


def project(run: Run) -> str | None:
    """Return the name of the project that declares a run's experiment; None if Benchbook itself does."""
    facts = run.facts("provenance")
    stated = of_declarations(facts)
    return None if stated is facts else stated.get("name")


def command(run: Run, words: str) -> str:
    """Return a Benchbook command: ``./bench list`` in a clone, ``benchbook list`` in a project."""
    return f"{'benchbook' if project(run) else './bench'} {words}"
