"""Parameters of the ``kline`` generator: one-minute bars of stocks on working days."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Self

from pydantic import Field, model_validator

from benchbook.declare.model import Model, Positive

BARS_PER_DAY = 240
MOST_STOCKS = 65_535
"""The published table numbers stocks with an unsigned integer of 16 bits."""


class KlineParameters(Model):
    """Size and time of a kline dataset; rows = 240 x stocks x days."""

    stocks: Annotated[int, Field(ge=1, le=MOST_STOCKS)]
    """Stocks of this part."""
    first: Annotated[int, Field(ge=1, le=MOST_STOCKS)] = 1
    """Number of the first stock: parts with other stocks are the same dataset continued."""
    days: Positive = 500
    """Working days, Monday to Friday."""
    start: date
    """First day; a Saturday or Sunday means the Monday after it."""

    @model_validator(mode="after")
    def _numbered(self) -> Self:
        if self.first - 1 + self.stocks > MOST_STOCKS:
            last = self.first - 1 + self.stocks
            raise ValueError(
                f"the last stock has the number {last}, but the last one possible is {MOST_STOCKS}"
            )
        return self

    def rows(self) -> int:
        """Return the number of rows that these parameters make."""
        return self.stocks * self.days * BARS_PER_DAY

    def flags(self) -> list[str]:
        """Return benchload's flags for these parameters, without the seed."""
        return [
            f"--scale={self.first - 1 + self.stocks}",
            f"--series-first={self.first - 1}",
            f"--start={self.start.isoformat()}T00:00:00Z",
            f"--days={self.days}",
        ]
