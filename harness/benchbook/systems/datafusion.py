"""DataFusion, in a separate worker process."""

from __future__ import annotations

from benchbook.systems.python_worker import EmbeddedDriver


class DataFusion(EmbeddedDriver):
    """Frames in the memory of one worker; nothing is stored."""

    engine = "datafusion"
    title = "DataFusion"
    dialect = "datafusion"


driver = DataFusion
