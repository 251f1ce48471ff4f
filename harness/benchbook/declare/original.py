"""Options of the workload ``original``: the very tool of a publication, driven unchanged, its output parsed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from benchbook.declare.duration import Duration
from benchbook.declare.model import Model, Text

Tool = Literal["inch", "influx-stress", "bulk_load_influx", "query_benchmarker_influxdb"]

Program = Literal[
    "inch",
    "influx-stress",
    "bulk_data_gen",
    "bulk_load_influx",
    "bulk_query_gen",
    "query_benchmarker_influxdb",
]


class OriginalOptions(Model):
    """Options of the workload ``original``."""

    tool: Tool
    """``bulk_load_influx`` is fed by ``bulk_data_gen``, ``query_benchmarker_influxdb`` by ``bulk_query_gen``."""
    arguments: dict[Program, list[Text]] = Field(default_factory=dict)
    """Program → its arguments, besides where the server is; one that is not named has its own defaults."""
    limit: Duration = "2h"
    """How long it may take."""
