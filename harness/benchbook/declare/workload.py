"""Workloads: what is done to a system and timed, and the options each takes."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from benchbook.declare.duration import Duration
from benchbook.declare.model import Model, Positive

DevopsQuery = Literal["1-host-1-hr", "1-host-12-hr", "8-host-1-hr", "groupby", "groupby-max"]
QUERY_TYPES: tuple[str, ...] = get_args(DevopsQuery)


class LoadOptions(Model):
    """Options of the workload ``load``: the whole dataset into an empty database."""

    batch_size: Positive = 5000
    """Rows a write."""
    workers: Positive = 1
    """Writes in flight."""
    gzip: bool = False
    """Whether the body of a write is compressed; embedded systems have no body."""
    timeout: Duration = "30s"
    """How long one write may take."""


class QueryOptions(Model):
    """Options of the workload ``query``: queries of one type, the same for every system."""

    type: DevopsQuery
    queries: Positive = 100
    """Timed queries."""
    workers: Positive = 1
    """Queries in flight."""
    warmup: Annotated[int, Field(ge=0)] = 0
    """Queries before the timed ones; kept and tagged."""
    timeout: Duration = "30s"


WORKLOADS: dict[str, type[LoadOptions | QueryOptions]] = {"load": LoadOptions, "query": QueryOptions}
"""Option model of each workload; a new workload adds one entry and a module in ``benchbook/workloads``."""
