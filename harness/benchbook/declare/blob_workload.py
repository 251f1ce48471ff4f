"""Options of the workload ``blob``: objects put, got and deleted one by one, or in transactions."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from benchbook.declare.duration import Duration
from benchbook.declare.model import Model, Positive

_PART = re.compile(r"(put|get|delete)=(\d+(?:\.\d+)?)")


def _mix(text: str) -> str:
    parts = [_PART.fullmatch(part) for part in text.split(",")]
    if not all(parts) or not any(float(part[2]) > 0 for part in parts if part):
        raise ValueError(f'"{text}" is not a mix; write parts such as "put=1,get=8,delete=1"')
    return text


class BlobOptions(Model):
    """Options of the workload ``blob``: what is done with the objects of the dataset, and how fast."""

    do: Literal["put", "get", "delete", "mixed"]
    """Put every object, get or delete those that are there, or a mix of the three."""
    mix: Annotated[str, AfterValidator(_mix)] = "put=1,get=2,delete=1"
    """Parts of a mix."""
    operations: Annotated[int, Field(ge=0)] = 0
    """Operations; 0 for one an object."""
    batch: Positive = 1
    """Objects of a put: one transaction, or one after the other in a store that has none over several objects."""
    workers: Positive = 1
    """Operations in flight: the concurrency."""
    rate: Annotated[float, Field(ge=0)] = 0
    """Operations a second of an open loop; 0 for a closed one, in which each worker waits for its answer."""
    arrivals: Literal["constant", "poisson"] = "constant"
    """How operations of an open loop are spread over time."""
    sync_limit: bool = False
    """Whether fio measures before the phase, untimed, how many writes of the mean size of an object the disk
    syncs one by one, with as many jobs as there are workers; once a block for cells that ask the same of it.
    Without fio it is left out."""
    timeout: Duration = "30s"
    """How long one operation may take."""
