"""The verdict on each claim, and how to run the experiment again."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.analyse import quantity
from benchbook.analyse.run import Run
from benchbook.declare.catalogue import root
from benchbook.record.rerun import made_by
from benchbook.report.table import Table, Words, escape_html, missing

if TYPE_CHECKING:
    from benchbook.analyse.claims import Judgement


# What a claim's number is called that states a side of it and no value, such as "faster": by the test of the claim.

WORDS = {"at-least": "claimed at least", "at-most": "claimed at most"}
"""Before the number, in a sentence."""
SIGNS = {"at-least": "≥ ", "at-most": "≤ "}
"""Before the number, in a table."""
LEGEND = "bound of the claim"
"""Its mark in a chart."""


# The verdict on each claim of a run, with the published and the measured ratio and the reason.


def table(run: Run) -> Table | Words:
    """Return one row a claim, in the order in which the experiment declares them.

    What is said of every claim, as the number of trials, stands once in the caption.
    """
    from benchbook.analyse import claims

    found = claims.judge_run(run.results, run.run_id, root() / "datasets" / "published")
    if not found:
        return missing("The verdicts", "the run declared no claims")
    reasons, common = shared([one.reason for one in found])
    rows = [
        [
            f"{one.statement} ({one.source})",
            str(one.verdict),
            _verdicts_published(one),
            _measured(one),
            why,
        ]
        for one, why in zip(found, reasons, strict=True)
    ]
    columns = ["Claim", "Verdict", "Published", "Measured (95 % interval)", "Why"]
    return Table(columns, rows, caption=f"Of every claim: {common}." if common else "", stacked=True)


def shared(reasons: list[str]) -> tuple[list[str], str]:
    """Return what each reason says beyond the others, and what more than two all say.

    >>> shared(["near; 3 trials", "far; 3 trials", "3 trials"])
    (['near', 'far', 'nothing else'], '3 trials')
    """
    parts = [reason.split("; ") for reason in reasons]
    common = [part for part in parts[0] if len(parts) > 2 and all(part in other for other in parts)]
    own = ["; ".join(part for part in one if part not in common) for one in parts]
    return [reason or "nothing else" for reason in own], "; ".join(common)


def counts(run: Run) -> Words:
    """Say in a sentence how many claims got which verdict."""
    from benchbook.analyse import claims

    found = claims.judge_run(run.results, run.run_id, root() / "datasets" / "published")
    words = [str(one.verdict) for one in found]
    if not words:
        return missing("The verdicts", "the run declared no claims")
    parts = [f"{words.count(word)} {word}" for word in dict.fromkeys(words)]
    return Words(f"Of {len(words)} claims: {', '.join(parts)}.")


def _verdicts_published(one: Judgement) -> str:
    """Return the ratio that was published, or the bound that the claim states in words."""
    if one.published is None:
        return quantity.MISSING
    return f"{SIGNS.get(one.test, '')}{quantity.number(one.published)}"


def _measured(one: Judgement) -> str:
    if one.measured is None:
        return quantity.MISSING
    if one.low is None or one.high is None:
        return quantity.number(one.measured)
    pooled = f", {len(one.cells)} cells pooled" if len(one.cells) > 1 else ""
    return (
        f"{quantity.number(one.measured)} ({quantity.number(one.low)} to {quantity.number(one.high)}){pooled}"
    )


# How to do a run again: the exact commands.


def words(run: Run) -> Words:
    """Return the command that repeats the run with the same order, and the one it was started with."""
    info = run.info
    published = _rerun_published(run)
    name = published or run.run_id
    again = f"./bench rerun {shlex.quote(name)}"
    nix = f"nix run .#benchbook -- rerun {shlex.quote(name)}"
    does, given = made_by(json.loads(info["argv"] or "[]"))
    options = shlex.join([info["experiment"]] if given is None else given)
    seed = "" if "--order-seed" in options else f" --order-seed {info['order_seed']}"
    revision = f"git checkout {info['git_revision']}\n" if info["git_revision"] else ""
    parts = [
        f"{'In a clone of Benchbook' if published else 'With the results at hand'}, in the same order:",
        f"<pre><code>{escape_html(again)}\n{escape_html(nix)}</code></pre>",
        "From nothing but a checkout:",
        f"<pre><code>{escape_html(revision)}{escape_html(f'./bench {does} {options}{seed}')}</code></pre>",
    ]
    if "…/" in options:
        parts.append("… stands for a folder of the machine that ran it: name the place of yours.")
    if info["git_dirty"]:
        parts.append(
            "The checkout had changes that were not committed: its revision alone is another program."
        )
    return Words("\n\n".join(parts))


def _rerun_published(run: Run) -> str | None:
    """Return where every clone has this run, None for a run that is not the published one of its experiment."""
    place = Path("reports/data") / run.info["experiment"]
    try:
        facts = json.loads((root() / place / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(place) if isinstance(facts, dict) and facts.get("run_id") == run.run_id else None
