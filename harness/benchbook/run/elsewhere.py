"""Carries out the trials of a run on a cluster of machines instead of here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import TrialFailed, Unavailable
from benchbook.plan.plan import Plan, PlannedTrial
from benchbook.run.context import Context
from benchbook.run.observer import Observer
from benchbook.run.trial import Trial

if TYPE_CHECKING:
    from benchbook.cluster.cluster import Cluster


@contextmanager
def joined(plan: Plan, observer: Observer) -> Iterator[Cluster | None]:
    """Give the cluster of a run, connected; None for a run on this machine."""
    if plan.cluster is None:
        yield None
        return
    from benchbook.cluster.cluster import Cluster

    cluster = Cluster(plan.cluster, observer)
    try:
        yield cluster
    finally:
        cluster.close()


def elsewhere(context: Context, planned: PlannedTrial, folder: Path) -> dict[str, Any]:
    """Carry out a trial on the cluster and return its record; a worker that is lost fails this trial alone."""
    from benchbook.cluster.server_side import Errand

    assert context.cluster is not None
    queries = {key: (path.name, path.read_bytes()) for key, path in context.query_files.items()}
    errand = Errand(context.plan, planned, context.programs, context.digests, queries)
    try:
        return context.cluster.carry_out(errand, folder)
    except Unavailable as reason:
        return Trial(context, planned, folder).lost("skipped", str(reason))
    except TrialFailed as reason:
        return Trial(context, planned, folder).lost("failed", str(reason))
