"""The order of trials: randomised complete blocks, ABBA where there are two cells.

Blocks spread slow changes of the machine over all cells alike; shuffling inside a block keeps a cell from
always following the same other one. With two cells a shuffle would leave a 1 in 4 chance of three equal
blocks in a row, so each block is the reverse of the one before it.
"""

from __future__ import annotations

import random
from typing import TypeVar

Cell = TypeVar("Cell")


def blocks(cells: list[Cell], count: int, seed: int) -> list[list[Cell]]:
    """Return ``count`` blocks, each holding every cell once, in an order that ``seed`` decides."""
    shuffler = random.Random(seed)
    first = shuffler.sample(cells, len(cells))
    if len(cells) == 2:
        return [first if block % 2 == 0 else first[::-1] for block in range(count)]
    return [first, *(shuffler.sample(cells, len(cells)) for _ in range(count - 1))]
