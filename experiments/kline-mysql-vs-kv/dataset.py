"""The generator ``kline`` of this experiment's client."""

from __future__ import annotations

from datetime import date
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from benchbook.declare.dataset import Generated
from benchbook.declare.toml import Positive

BARS_PER_DAY = 240
MOST_STOCKS = 65_535
"""The published table numbers stocks with an unsigned 16-bit integer."""


class KlineParameters(Generated):
    """Parameters of the generator ``kline``: one-minute bars of stocks on working days; rows = 240 x stocks x days."""

    load_command: ClassVar[str] = "bars-load"
    stocks: Annotated[int, Field(ge=1, le=MOST_STOCKS)]
    """Number of stocks."""
    first: Annotated[int, Field(ge=1, le=MOST_STOCKS)] = 1
    """Number of the first stock; datasets of other stocks continue the same data."""
    days: Positive = 500
    """Number of working days, Monday to Friday."""
    start: date
    """First day; a Saturday or Sunday means the Monday after it."""

    @model_validator(mode="after")
    def _numbered(self) -> Self:
        if self.first - 1 + self.stocks > MOST_STOCKS:
            last = self.first - 1 + self.stocks
            raise ValueError(
                f"first = {self.first} and stocks = {self.stocks} end at stock {last}; the last one is {MOST_STOCKS}"
            )
        return self

    def rows(self) -> int:
        """Return the number of rows that the generator makes."""
        return self.stocks * self.days * BARS_PER_DAY

    def flags(self) -> list[str]:
        """Return benchload's flags for these parameters, without the seed."""
        return [
            f"--scale={self.first - 1 + self.stocks}",
            f"--series-first={self.first - 1}",
            f"--start={self.start.isoformat()}T00:00:00Z",
            f"--days={self.days}",
        ]


generators = {"kline": KlineParameters}
