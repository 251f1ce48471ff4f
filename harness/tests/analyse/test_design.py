"""The number of blocks of a session, if sessions on other processors follow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from benchbook.analyse import design
from benchbook.analyse.model import FEWEST

SHARES = some.floats(0.005, 1)
SECONDS = some.floats(1, 10_000)


@given(SHARES, SHARES, SECONDS, SECONDS)
def test_no_other_number_of_blocks_gives_a_smaller_variance_for_the_time(
    spread: float, between: float, block: float, session: float
) -> None:
    """In the time of n sessions, the variance of their mean is (spread^2 / blocks + between^2) / n."""

    def variance(blocks: int) -> float:
        return (spread**2 / blocks + between**2) * (session + blocks * block)

    found = design.blocks(spread, between, block, session)
    assert found >= FEWEST
    others = {FEWEST, found + 1, max(FEWEST, found - 1), 2 * found, max(FEWEST, found // 2)}
    assert variance(found) <= min(map(variance, others)) * (1 + 1e-9)
