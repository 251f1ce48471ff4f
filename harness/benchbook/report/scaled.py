"""Label a run of profile ``published`` on a machine smaller than the publication's: scaled."""

from __future__ import annotations

import functools

from benchbook.analyse.run import Run


@functools.cache
def scaled_label(run: Run) -> str | None:
    """Say by what the machine falls short of the publication's; None for a run that is not scaled."""
    from benchbook.analyse.claim_cells import scaled
    from benchbook.declare.claim import PublishedMachine

    stated = (run.facts("declared").get("experiment") or {}).get("published_machine")
    try:
        machine = PublishedMachine.model_validate(stated) if stated else None
    except ValueError:
        return None
    return scaled(run.info["profile"], machine, run.facts("host"))


def title(run: Run, text: str) -> str:
    """Return the title of a chart, with the label where the run is scaled."""
    return f"{text} (scaled)" if scaled_label(run) else text
