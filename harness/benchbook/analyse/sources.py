"""What a system costs in a container: the same cells from two sources, in one run, paired by block."""

from __future__ import annotations

from typing import Any

from benchbook.analyse import ratio
from benchbook.analyse.main_metric import is_main
from benchbook.analyse.observed import Cell, Observed
from benchbook.plan.factors import SOURCE


def rows(run: Observed) -> list[dict[str, Any]]:
    """Return one row for each cell, main metric and pair of sources: the ratio, with its interval."""
    alike: dict[Any, dict[str, Cell]] = {}
    for cell in run.cells:
        if SOURCE in cell.levels:
            rest = tuple((name, level) for name, level in cell.levels.items() if name != SOURCE)
            alike.setdefault(rest, {})[cell.levels[SOURCE]] = cell
    found = []
    for rest, cells in alike.items():
        base, *others = sorted(cells, key=lambda name: (name in ("docker", "given"), name))
        for other in others:
            for phase, metric in run.pairs():
                if not is_main(metric):
                    continue
                of, over = (run.values(cells[name], (phase, metric)) for name in (other, base))
                made = ratio.ratio(of.by_block, over.by_block)
                if made.value is None:
                    continue
                between = f"{made.low:.3g} to {made.high:.3g}" if made.low and made.high else made.reason
                found.append(
                    {
                        "cell": ",".join(f"{name}={level}" for name, level in rest),
                        "phase": phase,
                        "metric": metric,
                        "sources": f"{other} over {base}",
                        "ratio": f"{made.value:.3g}",
                        "95 % interval": between,
                    }
                )
    return found
