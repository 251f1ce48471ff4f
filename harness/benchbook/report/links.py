"""Addresses of trials, to which charts and tables of a page lead."""

from __future__ import annotations

import os

VARIABLE = "BENCHBOOK_TRIALS"
"""Address of the page of the run's trials, as seen from the page that is rendered; charts link to it."""
FOLDER = "runs"
"""Folder of a site with these pages."""


def page_address() -> str:
    """Return the address of the trials of the run that a page shows; empty if it links none."""
    return os.environ.get(VARIABLE, "")


def address(trial_id: str) -> str:
    """Return the address of a trial; empty if the page that is rendered has no page of trials."""
    where = page_address()
    return f"{where}#{anchor(trial_id)}" if where else ""


def of_run(run_id: str) -> str:
    """Return the address of the trials of any run beside the one that a page shows; empty if it links none."""
    return f"{FOLDER}/{run_id}.html" if page_address().startswith(f"{FOLDER}/") else ""


def anchor(trial_id: str) -> str:
    """Return the id of a trial in the page of its run.

    >>> anchor("quickstart-20261120T220313-c1df/0012")
    'trial-0012'
    """
    return f"trial-{trial_id.rpartition('/')[2]}"
