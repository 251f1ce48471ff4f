"""The answer of a gate in words, and in the forms that other tools read: Markdown, JUnit, Bencher, GitHub."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from benchbook.analyse import gated, quantity, same_work
from benchbook.analyse.gate import Chances, Look, Word, overall
from benchbook.analyse.gated import Row
from benchbook.analyse.model import FEWEST
from benchbook.analyse.quantity import text
from benchbook.analyse.run import Run
from benchbook.declare.metric import describe
from benchbook.plan.gating import Gate
from benchbook.report import reasons


@dataclass(frozen=True)
class Result:
    """What a gate found."""

    run_id: str
    experiment: str
    gate: Gate
    rows: Sequence[Row]
    blocks: int
    seconds: float
    """Time of all blocks, with what was between trials."""
    finished_at: str
    faults: tuple[str, ...] = ()
    """Why base and head did not do the same work, in words."""

    @property
    def word(self) -> Word:
        """The answer of the gate."""
        return overall(row.answer for row in self.rows)

    @property
    def block_seconds(self) -> float:
        """The time of a block."""
        return self.seconds / max(self.blocks, 1)


def of_run(run: Run) -> Result | None:
    """Return what the looks of a gate found; None for another run."""
    stated = run.facts("gate")
    if not stated:
        return None
    held = run.fact_list("looks")
    try:
        taken = [Look(one["block"], one["share"]) for one in held]
        design = Gate.parse(stated)
    except (KeyError, TypeError, ValueError):  # a gate of somebody else, or of another version
        return None
    seconds = held[-1].get("spent_seconds") if held else None
    if seconds is None:  # a gate whose budget counted trials alone
        seconds = float(run.frame("trials")["duration_seconds"].sum() or 0.0)
    return Result(
        run.run_id, run.experiment, design, gated.rows(run, design, taken), taken[-1].block if taken else 0, seconds,
        str(run.info["finished_at"] or run.info["created_at"]),
        tuple(reasons.sentence([one]) for one in same_work.of_run(run).faults()),
    )  # fmt: skip


def percent(share: float | None) -> str:
    """Return a loss for people.

    >>> percent(0.0213), percent(-0.2), percent(math.inf), percent(None)
    ('+2.1 %', '-20 %', '…', '')
    """
    if share is None:
        return ""
    if not math.isfinite(share) or share <= -1:
        return "…"
    return f"{100 * share:+.{1 if abs(share) < 0.1 else 0}f} %"


def loss(row: Row) -> str:
    """Return a loss with its interval."""
    held = row.answer
    return "" if held.loss is None else f"{percent(held.loss)} ({percent(held.low)} to {percent(held.high)})"


def table(result: Result) -> list[dict[str, Any]]:
    """Return a row of text for each metric."""
    base, head = result.gate.names
    base, head = (base, head) if base != head else (f"{base} (base)", f"{head} (head)")
    return [
        {
            "metric": row.title,
            base: text(row.base, row.unit, describe(row.metric).noun),
            head: text(row.head, row.unit, describe(row.metric).noun),
            "loss (interval)": loss(row),
            "margin": f"{100 * result.gate.margin:g} %",
            "answer": row.answer.word,
            "trials": row.answer.trials,
        }
        for row in result.rows
    ]


def sentence(result: Result) -> str:
    """Return the answer in a sentence."""
    base, head = result.gate.names
    counts = Counter(row.answer.word for row in result.rows)
    after = f"after {quantity.counted(result.blocks, 'block')} in {duration(result.seconds)}"
    if result.word == "slower":
        worse = [row for row in result.rows if row.answer.word == "slower"]
        worst = max(worse, key=lambda row: row.answer.loss or 0.0)
        which = "" if len(worse) == 1 else f"{len(worse)} metrics, most in "
        return f"{head} is slower than {base} in {which}{worst.title}: {loss(worst)}, {after}."
    if result.word == "not slower":
        return f"{head} is not slower than {base} by more than {100 * result.gate.margin:g} %, {after}."
    if not result.rows:
        return f"Open: no metric has a value of {base} and {head}."
    verb = "is" if counts["open"] == 1 else "are"
    opened = (
        f"Open {after}: {counts['open']} of {quantity.counted(len(result.rows), 'metric')} {verb} undecided"
    )
    return f"{opened}. {needed(result)}"


def needed(result: Result) -> str:
    """Return how long an open gate would take."""
    if result.blocks < FEWEST:
        seconds = FEWEST * result.block_seconds
        return f"An answer needs {FEWEST} blocks at least: --budget {duration(seconds, whole=True)} or more."
    lacking = [row.answer.needed for row in result.rows if row.answer.word == "open"]
    known = [one for one in lacking if one is not None]
    if len(known) < len(lacking):
        return (
            "More blocks would not decide all of them: equal setups differ too much, or values are missing."
        )
    seconds = max(known) * result.block_seconds
    return f"To decide each with 80 % chance: {max(known)} blocks, --budget {duration(seconds, whole=True)}."


def duration(seconds: float, *, whole: bool = False) -> str:
    """Return a time for people; with ``whole``, as ``--budget`` takes it, rounded up.

    >>> duration(7.26), duration(75), duration(75, whole=True), duration(45.2, whole=True)
    ('7.3 s', '1 min 15 s', '2m', '46s')
    """
    if whole:
        return f"{math.ceil(seconds / 60)}m" if seconds > 60 else f"{math.ceil(seconds)}s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def chance(found: Chances, margin: float) -> str:
    """Return the chances of the right answers as a sentence.

    >>> chance(Chances(0.5, 0.8), 0.03)
    'The chance that it is not slower if nothing is lost: 50 %; slower at a loss of 6 %: 80 %'
    """
    return (
        f"The chance that it is not slower if nothing is lost: {100 * found.passed:.0f} %; slower at a loss of "
        f"{200 * margin:g} %: {100 * found.found:.0f} %"
    )


def look(rows: Sequence[Row], now: Look, stopped: str | None) -> str:
    """Return a look as one line."""
    counts = Counter(row.answer.word for row in rows)
    said = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    ends = f"; the gate ends: {stopped}" if stopped else ""
    return f"after block {now.block} ({100 * now.share:.0f} % of the budget): {said or 'no metric yet'}{ends}"


def plain(result: Result) -> dict[str, Any]:
    """Return the whole answer as JSON."""
    return {
        "run_id": result.run_id, "experiment": result.experiment, "answer": result.word,
        "base": result.gate.names[0], "head": result.gate.names[1], "margin": result.gate.margin,
        "blocks": result.blocks, "seconds": result.seconds, "faults": list(result.faults),
        "sentence": sentence(result),
        "metrics": [
            {
                "phase": row.phase, "metric": row.metric, "setting": row.setting, "unit": row.unit,
                "direction": row.direction, "base": row.base, "head": row.head, "loss": row.answer.loss,
                "low": _finite(row.answer.low), "high": _finite(row.answer.high), "answer": row.answer.word,
                "blocks": row.answer.blocks, "trials": row.answer.trials, "blocks_needed": row.answer.needed,
            }
            for row in result.rows
        ],
    }  # fmt: skip


def markdown(result: Result) -> str:
    """Return a comment for a pull request."""
    rows = table(result)
    lines = [f"**{result.experiment}: {result.word}**", "", sentence(result), ""]
    if rows:
        lines += [_line(rows[0]), f"|{'---|' * len(rows[0])}", *(_line(row.values()) for row in rows), ""]
    run = f"Run `{result.run_id}`. " if result.run_id else ""
    lines += [*result.faults, f"{run}Losses are above zero if the head is worse."]
    return "\n".join(lines) + "\n"


def _line(cells: Any) -> str:
    return f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def junit(result: Result) -> str:
    """Return a JUnit file: a slower metric is a failure, an open one is skipped."""
    counts = Counter(row.answer.word for row in result.rows)
    numbers = {
        "tests": str(len(result.rows)), "failures": str(counts["slower"]), "errors": str(int(bool(result.faults))),
        "skipped": str(counts["open"]), "time": f"{result.seconds:.3f}",
    }  # fmt: skip
    # The schema of Jenkins has no skipped cases here.
    counted = {key: value for key, value in numbers.items() if key != "skipped"}
    suites = ET.Element("testsuites", {"name": "bench gate", **counted})
    suite = ET.SubElement(
        suites,
        "testsuite",
        {"name": result.experiment, "timestamp": result.finished_at[:19].replace(" ", "T"), **numbers},
    )
    share = result.seconds / max(len(result.rows), 1)
    for row in result.rows:
        case = ET.SubElement(
            suite,
            "testcase",
            {"classname": f"{result.experiment}.{row.phase}", "name": row.title, "time": f"{share:.3f}"},
        )
        said = f"loss {loss(row)}, margin {100 * result.gate.margin:g} %, {row.answer.trials} trials"
        if row.answer.word == "slower":
            failure = ET.SubElement(case, "failure", {"message": said, "type": "slower"})
            failure.text = sentence(result)
        elif row.answer.word == "open":
            ET.SubElement(case, "skipped", {"message": f"open: {said}"})
    if result.faults:
        case = ET.SubElement(
            suite, "testcase", {"classname": result.experiment, "name": "same work", "time": "0"}
        )
        ET.SubElement(case, "error", {"message": " ".join(result.faults), "type": "same work"})
        for element in (suites, suite):
            element.set("tests", str(len(result.rows) + 1))
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def bmf(result: Result) -> str:
    """Return Bencher Metric Format: the head's values and its losses, with their intervals."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in result.rows:
        if row.head is None:
            continue
        name = " ".join(filter(None, (f"{result.experiment}/{row.phase}", row.setting)))
        measures = found.setdefault(name, {})
        measures[row.metric.replace("_", "-")] = {"value": row.head}
        held = row.answer
        if held.loss is not None:
            ends = {"lower_value": _finite(held.low), "upper_value": _finite(held.high)}
            measures[f"{row.metric.replace('_', '-')}-loss"] = {
                "value": held.loss, **{key: value for key, value in ends.items() if value is not None}
            }  # fmt: skip
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def github_action_benchmark(result: Result) -> str:
    """Return the JSON of github-action-benchmark, ``customSmallerIsBetter``: a rate counts as the time of one."""
    found = []
    for row in result.rows:
        if row.head is None or (row.direction == "higher" and not row.head):
            continue
        rate = row.direction == "higher"
        noun = describe(row.metric).noun.removesuffix("s") or "one"
        found.append(
            {
                "name": f"{result.experiment}/{row.title}{' (time of one)' if rate else ''}",
                "unit": f"s/{noun}" if rate else row.unit,
                "value": 1 / row.head if rate else row.head,
                "extra": f"loss {loss(row)}, {row.answer.word}, {row.answer.trials} trials {result.run_id}".rstrip(),
            }
        )
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


FORMS: dict[str, Callable[[Result], str]] = {
    "json": lambda result: json.dumps(plain(result), indent=1, ensure_ascii=False) + "\n",
    "markdown": markdown,
    "junit": junit,
    "bmf": bmf,
    "github-action-benchmark": github_action_benchmark,
}
"""Form of a file → what writes it."""
