"""Parameters of the ``iot`` generator: a fleet of trucks, two measurements each a tick, some of them missing."""

from __future__ import annotations

from benchbook.declare.devops import ROWS_PER_TICK_AND_HOST, DevopsParameters
from benchbook.declare.model import Positive

ROWS_PER_TICK_AND_TRUCK = 2
MISSING = 51 / 512
"""Share of the rows that the generator leaves out."""


class IotParameters(DevopsParameters):
    """Size and time of an iot dataset; rows = 2 x scale x ticks, less about a tenth that is missing."""

    scale: Positive
    """Trucks."""

    def rows(self) -> int:
        """Return the expected number of rows; benchload's ``--digest`` tells the exact one."""
        trucks_and_ticks = super().rows() // ROWS_PER_TICK_AND_HOST
        return round(trucks_and_ticks * ROWS_PER_TICK_AND_TRUCK * (1 - MISSING))
