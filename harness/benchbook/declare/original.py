"""Options of the workload ``original``: the very tool of a publication, driven unchanged, its output parsed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from benchbook.declare.duration import Duration
from benchbook.declare.model import Model, Text

Tool = Literal["inch", "influx-stress", "bulk_load_influx", "query_benchmarker_influxdb"]


class OriginalOptions(Model):
    """Options of the workload ``original``."""

    tool: Tool
    """``bulk_load_influx`` is fed by ``bulk_data_gen``, ``query_benchmarker_influxdb`` by ``bulk_query_gen``."""
    arguments: Annotated[list[Text], Field(max_length=64)] = Field(default_factory=list)
    """Arguments of the tool itself, besides where the server is and which database it writes."""
    feed: Annotated[list[Text], Field(max_length=64)] = Field(default_factory=list)
    """Arguments of the tool that feeds it."""
    limit: Duration = "2h"
    """How long it may take."""
