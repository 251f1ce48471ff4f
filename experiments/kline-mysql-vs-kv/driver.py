"""Servers of this experiment alone, and key-value stores that hold packed days."""

from __future__ import annotations

from .dolphindb import DolphinDB
from .oracle import Oracle
from .packed_days import Kvrocks, PackedDays
from .spark import Spark

drivers = {"dolphindb": DolphinDB, "kvrocks": Kvrocks, "oracle": Oracle, "redis": PackedDays, "spark": Spark}
