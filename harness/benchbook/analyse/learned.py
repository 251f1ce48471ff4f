"""The priors of the variance between processors, as this version of Benchbook has learned them (``priors`` learns)."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchbook.analyse.alike import Kind
from benchbook.analyse.processors import Between
from benchbook.declare import checkout, names
from benchbook.host import provenance
from benchbook.record import ledger

FILE = Path("reports") / "priors.json"
"""In the project whose published runs were learned from; a project without it uses what Benchbook has learned."""


@functools.cache
def priors() -> dict[Kind, Between]:
    """Return class of metric → its prior."""
    return of_rows(_held()["priors"])


@functools.cache
def runs() -> frozenset[str]:
    """Return the ids of the project's runs that were learned from, A/A runs included.

    A run in the ledger that is not among them counts for no other run: a folder that somebody adds is no run of the
    project before a maintainer has learned from it (``./bench replicate --record``).
    """
    return frozenset(_held()["runs"])


@functools.cache
def built_in_runs() -> frozenset[str]:
    """Return the ids of the runs that Benchbook itself has published and learned from."""
    path = checkout.built_in() / FILE
    return frozenset(json.loads(path.read_text(encoding="utf-8"))["runs"]) if path.is_file() else frozenset()


@functools.cache
def removed_by_commits(root: Path) -> frozenset[str]:
    """Return the ids of the published runs that a commit of a project removed; they may be there again."""
    found = provenance.removed(root, ledger.DATA)
    return frozenset(run_id for experiment, run_id in found if names.is_planned_id(run_id, experiment))


def once_published(root: Path) -> frozenset[str]:
    """Return the ids of the runs that a project should have: those learned from, and those that a commit removed."""
    return runs() | removed_by_commits(root) if is_of(root) else frozenset()


def is_of(folder: Path) -> bool:
    """Return whether a folder should have all runs that were learned from: an installed package has none of them."""
    return checkout.found(FILE) == folder / FILE and not (
        checkout.is_installed() and folder == checkout.built_in()
    )


@functools.cache
def _held() -> dict[str, Any]:
    path = checkout.found(FILE)
    if path is None:  # a folder of declarations alone: without priors, each run is judged alone
        return {"priors": {}, "runs": []}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def of_rows(held: Mapping[Kind, Mapping[str, Any]]) -> dict[Kind, Between]:
    """Return the priors of a recorded file."""
    return {kind: Between(one["scale"], one["freedom"]) for kind, one in held.items()}
