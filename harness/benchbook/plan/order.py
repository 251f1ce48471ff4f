"""The order of trials: randomised complete blocks, ABBA where there are two cells.

Blocks spread slow changes of the machine over all cells alike; shuffling inside a block keeps a cell from
always following the same other one. With two cells a shuffle would leave a 1 in 4 chance of three equal
blocks in a row, so every second block is the reverse of the one before it: ABBA or BAAB, which of them is drawn
anew for each pair of blocks. Were it always the same, two trials of one cell would stand next to each other at
every border of blocks, and noise that lasts longer than a trial would make intervals too narrow.
"""

from __future__ import annotations

import random
from typing import TypeVar

Cell = TypeVar("Cell")


def blocks(cells: list[Cell], count: int, seed: int) -> list[list[Cell]]:
    """Return ``count`` blocks, each holding every cell once, in an order that ``seed`` decides."""
    shuffler = random.Random(seed)
    if len(cells) == 2:
        pairs = (shuffler.sample(cells, 2) for _ in range(0, count, 2))
        return [block for first in pairs for block in (first, first[::-1])][:count]
    return [shuffler.sample(cells, len(cells)) for _ in range(count)]
