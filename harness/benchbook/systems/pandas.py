"""pandas, in a separate worker process."""

from __future__ import annotations

from benchbook.systems.python_worker import EmbeddedDriver


class Pandas(EmbeddedDriver):
    """Frames in the memory of one worker; nothing is stored."""

    engine = "pandas"
    title = "pandas"


driver = Pandas
