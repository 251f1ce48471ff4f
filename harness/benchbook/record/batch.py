"""Batches of rows as Arrow has them: how many rows one has, and the types of a table's columns.

What only reads results needs these and not the models of trials, whose import takes longer than most reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchbook.record.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 16_384
"""Rows of an Arrow batch, for every reading call.

DuckDB allocates a whole batch of each column and keeps it, however few rows there are; with its default of a
million rows a report's few hundred frames hold so much address space that the process cannot fork.
"""


def arrow_types(table: Table) -> dict[str, pa.DataType]:
    """Return the Arrow type that each column of a table declares, in their order."""
    import pyarrow as pa

    types = {
        "VARCHAR": pa.string(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "TIMESTAMP": pa.timestamp("us"),
    }
    return {column.name: types[column.type] for column in table.columns}
