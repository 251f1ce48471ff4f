"""Cells: every combination of one level of each factor."""

from __future__ import annotations

import itertools

from benchbook.declare.model import Setting
from benchbook.plan.factors import Factors

Levels = dict[str, Setting]


def cells(factors: Factors) -> list[Levels]:
    """Return all combinations, the last factor changing fastest.

    >>> cells({"system": ["a", "b"], "arm": ["vanilla"]})
    [{'system': 'a', 'arm': 'vanilla'}, {'system': 'b', 'arm': 'vanilla'}]
    """
    return [dict(zip(factors, levels, strict=True)) for levels in itertools.product(*factors.values())]


def label(levels: Levels) -> str:
    """Return a cell's name, the same in every run that has the same levels.

    >>> label({"system": "a", "batch_size": 10})
    'system=a,batch_size=10'
    """
    return ",".join(f"{name}={_shown(level)}" for name, level in levels.items())


def _shown(level: Setting) -> str:
    return str(level).lower() if isinstance(level, bool) else str(level)
