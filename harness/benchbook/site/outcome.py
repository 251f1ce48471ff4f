"""What a published run came to: one outcome a claim, or, where it declares none, one a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.declare.catalogue import root
from benchbook.report import answer, quantity, versus
from benchbook.report.charts import ratio as ratios
from benchbook.report.results import Run

NOT_RANKED = "not ranked"
"""The verdict on an embedded system against a server."""
STYLES = {
    "reproduced": ("#009E73", "circle"),
    "direction only": ("#6680FF", "triangle-up"),
    "contradicted": ("#D55E00", "cross"),
    "inconclusive": ("#8A8F98", "diamond"),
    "underspecified": ("#CC79A7", "square"),
    "not run": ("#8A8F98", "triangle-down"),
    "better": ("#009E73", "circle"),
    "worse": ("#D55E00", "cross"),
    "no difference claimed": ("#8A8F98", "diamond"),
    NOT_RANKED: ("#CC79A7", "square"),
    "no verdict": ("#8A8F98", "triangle-down"),
}
"""Verdict → colour and shape; colour is never the only carrier."""


@dataclass(frozen=True)
class Outcome:
    """One row of the picture: what was asked, the verdict, and the ratio with its interval where there is one."""

    row: str
    """Short: the claim's id, or phase and metric."""
    statement: str
    verdict: str
    value: float | None
    low: float | None
    high: float | None
    published: float | None
    reason: str
    axis: str = "Ratio"
    """What the ratio is, for the axis."""

    def ratio(self) -> str:
        """Return the ratio with its interval in words."""
        if self.value is None:
            return quantity.MISSING
        if self.low is None or self.high is None:
            return quantity.number(self.value)
        return f"{quantity.number(self.value)} ({quantity.number(self.low)} to {quantity.number(self.high)})"


def outcomes(run: Run) -> list[Outcome]:
    """Return the claims of a run judged; without claims, every comparison with its baseline."""
    declared = (run.facts("declared").get("experiment") or {}).get("claims") or []
    return _claims(run) if declared else _comparisons(run)


def _claims(run: Run) -> list[Outcome]:
    from benchbook.analyse import claims

    found = claims.judge_run(run.results, run.run_id, root() / "datasets" / "published")
    return [
        Outcome(
            one.id,
            one.statement,
            str(one.verdict),
            one.measured,
            one.low,
            one.high,
            one.published,
            one.reason,
        )
        for one in found
    ]


def _comparisons(run: Run) -> list[Outcome]:
    base = versus.baseline(run)
    if base is None or answer.faults(run):
        return []
    made = []
    pairs = [
        pair for phase, metric in versus.metrics(run) for pair in versus.against(run, phase, metric, base)
    ]
    said = iter(versus.verdicts([pair for pair in pairs if not versus.mixed(run, pair)]))
    for pair in pairs:
        judged = None if versus.mixed(run, pair) else next(said)
        better = pair.advantage
        if judged is None:
            verdict = NOT_RANKED
        elif judged.winner is not None:
            verdict = "better" if judged.winner == pair.cell.label else "worse"
        else:
            verdict = "no verdict" if pair.errors or better.low is None else "no difference claimed"
        what = f"{pair.cell.label} against {base.label}: {ratios.label(pair)}"
        made.append(
            Outcome(
                f"{ratios.short(pair)}, {pair.cell.label}",
                what,
                verdict,
                better.value,
                better.low,
                better.high,
                None,
                "an embedded system is not ranked against a server" if judged is None else judged.sentence,
                f"Times as good as {base.label}: right of 1 is better",
            )
        )
    return made
