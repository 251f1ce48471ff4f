"""Options of the workload ``fio``: one job of fio in the data folder. Names and defaults are fio's own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from benchbook.declare.duration import Duration
from benchbook.declare.model import Model, Positive

Size = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*[kmgt]?$")]
"""Bytes, or with k, m, g, t so many KiB, MiB, GiB, TiB."""


class FioOptions(Model):
    """Options of the workload ``fio``."""

    rw: Literal["read", "write", "randread", "randwrite", "rw", "randrw"]
    """What the job does, one after the other or at random places."""
    block_size: Size = "4k"
    size: Size = "1g"
    """Size of the file of each job."""
    jobs: Annotated[int, Field(ge=1, le=256)] = 1
    io_engine: Literal["psync", "sync", "libaio", "mmap", "pvsync2"] = "psync"
    io_depth: Positive = 1
    """Operations in flight of each job; more than 1 needs an asynchronous engine."""
    direct: bool = False
    """Whether the page cache is passed by; FUSE may refuse it."""
    fsync: Annotated[int, Field(ge=0)] = 0
    """After how many writes the file is synced; 0 never."""
    end_fsync: bool = False
    """Whether the file is synced once at the end; without it writes may rest in memory."""
    invalidate: bool = True
    """Whether the pages of the file are given up before the job begins."""
    refill_buffers: bool = False
    """Whether every write has new contents."""
    runs_for: Duration | None = None
    """Goes on for so long, over and over the file; None ends with the file."""
    read_percent: Annotated[int, Field(ge=0, le=100)] = 50
    """Share of reads of rw and randrw."""
