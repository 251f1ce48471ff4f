"""Parameters of the ``devops`` generator: a fleet of hosts, nine measurements each a tick."""

from __future__ import annotations

from datetime import datetime

from pydantic import AwareDatetime, field_validator, model_validator

from benchbook.declare.duration import Duration, seconds
from benchbook.declare.model import Model, Positive

ROWS_PER_TICK_AND_HOST = 9


class DevopsParameters(Model):
    """Size and time of a devops dataset; rows = 9 x scale x ticks."""

    scale: Positive
    """Hosts."""
    start: AwareDatetime
    """First tick, inclusive."""
    end: AwareDatetime
    """End of time, exclusive."""
    interval: Duration
    """Time between two ticks of a host."""

    @field_validator("interval")
    @classmethod
    def _whole_milliseconds(cls, text: str) -> str:
        if round(seconds(text) * 1000) < 1:
            raise ValueError(f'"{text}" is below 1ms, the smallest interval')
        return text

    @model_validator(mode="after")
    def _forward(self) -> DevopsParameters:
        if self.end <= self.start:
            raise ValueError(f"end ({_instant(self.end)}) is not after start ({_instant(self.start)})")
        return self

    def rows(self) -> int:
        """Return the number of rows that these parameters make."""
        ticks = -(-(self.end - self.start).total_seconds() // seconds(self.interval))
        return int(ticks) * self.scale * ROWS_PER_TICK_AND_HOST

    def flags(self) -> list[str]:
        """Return benchload's flags for these parameters, without the seed."""
        return [
            f"--scale={self.scale}",
            f"--start={_instant(self.start)}",
            f"--end={_instant(self.end)}",
            f"--interval={self.interval}",
        ]


def _instant(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
