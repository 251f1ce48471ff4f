"""Workloads: what is done to a system and timed, and the options each takes."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from benchbook.declare.bars import KlineOptions
from benchbook.declare.blob_workload import BlobOptions
from benchbook.declare.command import CommandOptions
from benchbook.declare.duration import Duration
from benchbook.declare.fio import FioOptions
from benchbook.declare.model import Model, Positive
from benchbook.declare.original import OriginalOptions
from benchbook.declare.series import InchOptions, StressOptions

DevopsQuery = Literal["1-host-1-hr", "1-host-12-hr", "8-host-1-hr", "groupby", "groupby-max"]
IotQuery = Literal[
    "last-loc", "low-fuel", "high-load", "stationary-trucks", "long-driving-sessions", "avg-load"
]
QUERY_TYPES: tuple[str, ...] = (*get_args(DevopsQuery), *get_args(IotQuery))


class LoadOptions(Model):
    """Options of the workload ``load``: the whole dataset into an empty database."""

    batch_size: Positive = 5000
    """Rows a write."""
    workers: Positive = 1
    """Writes in flight, of each client."""
    clients: Annotated[int, Field(ge=1, le=64)] = 1
    """Clients that load the whole dataset at once, each a process of its own into a database of its own."""
    gzip: bool = False
    """Whether the body of a write is compressed; embedded systems have no body."""
    timeout: Duration = "30s"
    """How long one write may take."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """How often a write is sent again that the server could not do then (429, 5xx)."""
    expects: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list)
    """Words of refusals that the experiment expects. They are counted and shown, and the load goes on; a
    refusal in other words still fails the trial."""


CacheState = Literal["warm", "cold"]


class QueryOptions(Model):
    """Options of the workload ``query``: queries of one type, the same for every system."""

    type: DevopsQuery | IotQuery
    queries: Positive = 100
    """Timed queries."""
    workers: Positive = 1
    """Queries in flight."""
    warmup: Annotated[int, Field(ge=0)] = 0
    """Queries before the timed ones; kept and tagged."""
    timeout: Duration = "30s"
    cache: CacheState = "warm"
    """``cold``: before the first query the system is stopped, all caches of the storage are dropped, and it is
    started again. What could not be made cold is told as lukewarm."""


Options = (
    LoadOptions
    | QueryOptions
    | CommandOptions
    | FioOptions
    | InchOptions
    | StressOptions
    | OriginalOptions
    | KlineOptions
    | BlobOptions
)
"""Options of a workload."""

WORKLOADS: dict[str, type[Options]] = {
    "load": LoadOptions,
    "query": QueryOptions,
    "command": CommandOptions,
    "kline": KlineOptions,
    "fio": FioOptions,
    "inch": InchOptions,
    "stress": StressOptions,
    "original": OriginalOptions,
    "blob": BlobOptions,
}
"""Option model of each workload; a new workload adds one entry and a module in ``benchbook/workloads``."""
