"""Tables of the answers on claims, and the commands that repeat a run."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchbook.analyse import grade, quantity
from benchbook.analyse.grade import Reading
from benchbook.analyse.run import Run
from benchbook.declare.catalogue import root
from benchbook.record import ledger, manifest
from benchbook.record.rerun import made_by, of_declarations
from benchbook.report import claim, holding, reasons, typed
from benchbook.report.table import Markdown, Table, escape_html, escape_markdown, missing

if TYPE_CHECKING:
    from benchbook.analyse.claims import Judgement


SIGNS = {"at-least": "≥ ", "at-most": "≤ "}
"""Test of a one-sided claim → sign before its number in a table."""
JUDGES_NONE = "an A/A run measures the noise floor and judges no claims"
"""Why an A/A run has no answers."""


def table(run: Run) -> Table | Markdown:
    """Return a row for each claim, in the declared order: both answers, published and measured ratio, and reason.

    The caption contains the parts that all reasons share, such as the number of trials.
    """
    from benchbook.analyse import claims

    if run.against_itself:
        return missing("The answers", JUDGES_NONE)
    found = claims.over(run)
    if not found:
        return missing("The answers", "the run declared no claims")
    whys, common = reasons_of(found)
    rows = [
        [
            f"{claim.statement(one)} ({one.source})",
            claim.holds(one),
            holding.size_words(grade.reading(one)) or quantity.MISSING,
            _verdicts_published(one),
            _measured(one),
            claim.rests(one) if one.cells else quantity.MISSING,
            why,
        ]
        for one, why in zip(found, whys, strict=True)
    ]
    columns = [
        "Claim",
        *holding.QUESTIONS,
        "Published",
        f"Measured ({claim.interval_name(found)})",
        "Rests on",
        "Why",
    ]
    return Table(columns, rows, caption=common, stacked=True)


def reasons_of(found: Sequence[Judgement]) -> tuple[list[str], str]:
    """Return the reasons of each claim as sentences, and a sentence with those that all of them share."""
    specific, common = shared([reasons.all_parts(one.reasons) for one in found])
    whys = [" ".join(f"{part[:1].upper()}{part[1:].rstrip('.')}." for part in held) for held in specific]
    return whys, f"For every claim: {'; '.join(common)}." if common else ""


def shared(parts: list[list[str]]) -> tuple[list[list[str]], list[str]]:
    """Return the specific parts of each claim's reasons, and the parts that all of three or more claims share.

    >>> shared([["near", "3 trials"], ["far", "3 trials"], ["3 trials"]])
    ([['near'], ['far'], ['nothing else']], ['3 trials'])
    >>> shared([["near", "3 trials"], ["far", "3 trials"]])
    ([['near', '3 trials'], ['far', '3 trials']], [])
    """
    common = [part for part in parts[0] if len(parts) > 2 and all(part in other for other in parts)]
    specific = [[part for part in one if part not in common] for one in parts]
    return [one or ["nothing else"] for one in specific], common


def counts(run: Run) -> Markdown:
    """Return a sentence with the number of claims for each answer."""
    from benchbook.analyse import claims

    found = claims.over(run)
    if not found:
        return missing("The answers", "the run declared no claims")
    own = [one for one in found if one.own]
    published = [one for one in found if one not in own]
    added = " that we added" if published else ", not published"
    questions = f"{quantity.counted(len(own), 'question')}{added}"
    said = [
        f"of {noun}: {_counted(held)}"
        for noun, held in ((quantity.counted(len(published), "claim"), published), (questions, own))
        if held
    ]
    return Markdown(f"{'; '.join(said).capitalize()}.")


def _counted(found: Sequence[Judgement]) -> str:
    """Return the number of claims for each answer, with those of each size in brackets."""
    sizes: dict[Reading, Counter[Reading]] = {}
    for one in map(grade.reading, found):
        sizes.setdefault(one._replace(size=None), Counter())[one] += 1
    return ", ".join(
        f"{counted.total()} {holding.words(held)}{_sizes(counted)}" for held, counted in sizes.items()
    )


def _sizes(counted: Counter[Reading]) -> str:
    """Return how many of equal answers have which size, in brackets; nothing if none has one."""
    if all(one.size is None for one in counted):
        return ""
    said = [f"{number} {holding.size_words(one) or 'without a size'}" for one, number in counted.items()]
    return f" ({', '.join(said)})"


def _verdicts_published(one: Judgement) -> str:
    """Return the published ratio, or the bound of a one-sided claim."""
    if one.own:
        return "not published"
    if one.published is None:
        return quantity.MISSING
    return f"{SIGNS.get(one.test, '')}{quantity.number(one.published)}"


def _measured(one: Judgement) -> str:
    if one.measured is None:
        return quantity.MISSING
    if one.low is None or one.high is None:
        return quantity.number(one.measured)
    pooled = f", {len(one.cells)} cases pooled" if len(one.cells) > 1 else ""
    return (
        f"{quantity.number(one.measured)} ({quantity.number(one.low)} to {quantity.number(one.high)}){pooled}"
    )


def rerun_commands(run: Run) -> Markdown:
    """Return the commands that show how to repeat the run in the same order, from its results or from a checkout."""
    info = run.info
    published = _rerun_published(run)
    name = published or run.run_id
    facts = run.facts("provenance")
    project, stated = typed.project(run), of_declarations(facts)
    again = [typed.command(run, f"rerun {shlex.quote(name)}")]
    again += [] if project else [f"nix run .#benchbook -- rerun {shlex.quote(name)}"]
    does, given = made_by(json.loads(info["argv"] or "[]"))
    options = shlex.join([info["experiment"]] if given is None else given)
    seed = "" if "--order-seed" in options else f" --order-seed {info['order_seed']}"
    revision = f"git checkout {stated.get('git_revision')}\n" if stated.get("git_revision") else ""
    clone = (
        f"In a clone of the project {escape_markdown(str(project))}" if project else "In a clone of Benchbook"
    )
    where = clone if published else "If you have the results folder of this run"
    parts = [
        f"{where}, this command prints the one that repeats the trials of this run in the same order:",
        f"<pre><code>{escape_html(chr(10).join(again))}</code></pre>",
        f"Or without `rerun`, {clone[0].lower()}{clone[1:]}:",
        f"<pre><code>{escape_html(revision)}{escape_html(typed.command(run, f'{does} {options}{seed}'))}</code></pre>",
    ]
    if "…/" in options:
        parts.append(
            "Replace … by a folder on your machine. `rerun` replaces such a program by the image or package of the "
            "same version, or names what to provide."
        )
    if project:
        made_with = f"version {facts.get('benchbook_version')}, source digest {facts.get('source_digest')}"
        parts.append(f"The run was made with Benchbook, {escape_markdown(made_with)}.")
    if stated.get("git_dirty"):
        parts.append(
            "The checkout had uncommitted changes, so its revision differs from the program that ran."
        )
    return Markdown("\n\n".join(parts))


def _rerun_published(run: Run) -> str | None:
    """Return the path of this run in a clone; None unless it is published."""
    place = ledger.DATA / run.experiment / run.run_id
    return str(place) if (root() / place / manifest.FILE).is_file() else None
