"""Options of the workload ``kline``: ranges of one-minute bars, read again and again for a while."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from benchbook.declare.duration import Duration
from benchbook.declare.model import Model, Name, Positive

Read = Literal["short", "long"]
Method = Literal["as-published", "any-stock", "same-bars", "corrected"]

PUBLISHED = "published"
"""Level of ``in_flight`` that stands for what the publication had of each system."""
CLAIMED_IN_FLIGHT = 64
"""What the publication says of every system; used for a system that it did not measure."""


class KlineOptions(Model):
    """Options of the workload ``kline``."""

    read: Read
    """``short``: one bar. ``long``: all bars of eight trading days."""
    method: Method = "corrected"
    """What of the published method is put right, each step with those before it. ``as-published``: nothing.
    ``any-stock``: every system is asked for any stock; the published reader of MySQL asked for the first, always.
    ``same-bars``: a short read asks every system for one bar; SQL databases were asked for a minute before and
    after it too. ``corrected``: every answer is decoded and its bars are counted; the key-value store's were not."""
    in_flight: Positive | Literal["published"] = CLAIMED_IN_FLIGHT
    """Reads on their way at once, a connection each; ``published`` takes those of ``published_in_flight``."""
    published_in_flight: dict[Name, Positive] = Field(default_factory=dict)
    """System → reads on their way in the publication, by its own records."""
    duration: Duration = "5s"
    """For how long the requests are asked, again and again."""
    requests: Annotated[int, Field(ge=20, le=1_000_000)] = 5000
    """Different requests, drawn before the run: the same for every system."""
    warmup: Annotated[int, Field(ge=0)] = 100
    """Reads before the clock is started; kept and tagged."""
    timeout: Duration = "30s"

    def in_flight_of(self, system: str) -> int:
        """Return how many reads are on their way at once to a system."""
        if self.in_flight == PUBLISHED:
            return self.published_in_flight.get(system, CLAIMED_IN_FLIGHT)
        return int(self.in_flight)
