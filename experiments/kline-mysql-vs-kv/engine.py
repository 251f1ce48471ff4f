"""The servers of this experiment that only a client in Python can read."""

from __future__ import annotations

from . import dolphindb_engine, oracle_engine, spark_engine

engines = {
    "dolphindb": dolphindb_engine.open_database,
    "oracle": oracle_engine.open_database,
    "spark": spark_engine.open_database,
}
