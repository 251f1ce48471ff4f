"""What backs the answer on a claim: its declaration, SQL that gives its ratios, and its history over runs."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchbook.analyse import claims
from benchbook.analyse.claim_notes import corrected_after
from benchbook.declare.catalogue import root
from benchbook.declare.claim import PHASE, Claim
from benchbook.declare.sql_text import literal
from benchbook.record import ledger
from benchbook.report import data, history, links, typed
from benchbook.report.table import Entry, Link, Table, escape_html

if TYPE_CHECKING:
    from benchbook.analyse.claims import Judgement
    from benchbook.analyse.run import Run
    from benchbook.analyse.values import Cell

FILE = "experiment.toml"
DECLARED = Path("declared") / FILE
NOT_IN_SHELL = re.compile(r'["$`\\!]')
"""Characters with a meaning between double quotes of a shell."""
AFTER = re.compile(r"(\s*\n#[^\n]*)*\s*\Z")
"""Comments and blank lines above the next table."""


class Declaration(NamedTuple):
    """The text that declares a claim."""

    file: str
    """The path of its file, in the folder of the run or of the project."""
    line: int
    """Its first line, from 1."""
    text: str
    address: str
    """The address of the file; empty if the page links none."""


def declaration(run: Run, one: Judgement) -> Declaration | None:
    """Return how a claim was declared before the run, or after it if it was corrected; None if no file has it."""
    stated = _claims(run).get(one.id)
    file = run.results / "runs" / run.run_id / DECLARED
    if stated is None or corrected_after(stated, run) or not file.is_file():
        name = Path("experiments") / run.experiment / FILE
        return _found(root() / name, name.as_posix(), "", one.id)
    return _found(file, DECLARED.as_posix(), data.address(DECLARED), one.id)


def _found(file: Path, name: str, address: str, claim_id: str) -> Declaration | None:
    held = _declared(file).get(claim_id)
    return Declaration(name, *held, address) if held else None


@functools.cache
def _declared(file: Path) -> Mapping[str, tuple[int, str]]:
    """Return the id of each claim in a file → the line of its table ``[[claims]]``, and the text to the next table."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    starts = [number for number, line in enumerate(lines) if line.strip() == "[[claims]]"]
    found = {}
    for start in starts:
        later = (number for number in range(start + 1, len(lines)) if _begins_other(lines[number]))
        text = AFTER.sub("", "\n".join(lines[start : next(later, len(lines))]))
        if named := re.search(r'^id\s*=\s*["\']([^"\']+)', text, re.MULTILINE):
            found[named[1]] = (start + 1, text)
    return found


def _begins_other(line: str) -> bool:
    """Return whether a line begins a table that is no part of the claim above it."""
    return bool(re.match(r"\[{1,2}(?!\[|claims\.)", line))


@functools.cache
def _claims(run: Run) -> Mapping[str, Claim]:
    return {one.id: one for one in claims.declared(run)[0]}


def sql(run: Run, one: Judgement) -> str:
    """Return a statement with the ratio of each block that a claim rests on; empty for a claim without a ratio."""
    stated = _claims(run).get(one.id)
    cases = [cell for cell in one.cells if cell.logs]
    if stated is None or not cases:
        return ""
    phases: dict[tuple[str, str], list[str]] = {}
    for cell in cases:
        phases.setdefault(_sides(cell.sides.cells), []).append(cell.sides.levels.get(PHASE, one.phase))
    rows = ", ".join(
        f"({literal(above)}, {literal(below)}, [{', '.join(map(literal, found))}])"
        for (above, below), found in phases.items()
    )
    blocks = ", ".join(map(str, sorted({block for cell in cases for block in cell.logs})))
    valid = " AND a.status = 'ok' AND b.status = 'ok'" if stated.validity == "trial" else ""
    metrics = literal(one.metric), literal(one.over_metric or one.metric)
    return (
        "SELECT x.phase, c.above, c.below, a.block, x.value / y.value AS ratio "  # noqa: S608 - quoted
        f"FROM (VALUES {rows}) c(above, below, phases) "
        "JOIN trials a ON a.cell = c.above JOIN trials b ON b.cell = c.below AND b.block = a.block "
        "JOIN measurements x ON x.trial_id = a.trial_id AND list_contains(c.phases, x.phase) "
        f"AND x.metric = {metrics[0]} "
        f"JOIN measurements y ON y.trial_id = b.trial_id AND y.phase = x.phase AND y.metric = {metrics[1]} "
        f"WHERE a.block IN ({blocks}){valid} ORDER BY ALL"
    )


def _sides(cells: tuple[Cell, ...]) -> tuple[str, str]:
    return cells[-1].name, cells[0].name


def command(run: Run, statement: str) -> str:
    """Return the command that runs a statement on a run, as one types it in a clone or in the project."""
    place = ledger.DATA / run.experiment / run.run_id
    quoted = shlex.quote(statement) if NOT_IN_SHELL.search(statement) else f'"{statement}"'
    where = f"{shlex.quote(str(place))} " if (root() / place).is_dir() else ""
    return typed.command(run, f"sql {where}{quoted}")


def html(run: Run, one: Judgement, why: str) -> str:
    """Return the folded part of a claim's row: why it has its answer, its declaration, its SQL and its history."""
    parts = {"Reason": f"<p>{escape_html(why)}</p>"} if why else {}
    if held := declaration(run, one):
        named = f"{held.file}, line {held.line}"
        shown = f'<a href="{escape_html(held.address)}">{escape_html(named)}</a>' if held.address else named
        parts["declaration"] = f"<p>Declared in {shown}:</p><pre><code>{escape_html(held.text)}</code></pre>"
    if statement := sql(run, one):
        said = "The ratio of each block, in a clone of the repository:"
        parts["SQL"] = f"<p>{said}</p><pre><code>{escape_html(command(run, statement))}</code></pre>"
    if len(runs := history.of_claim(run, one.id)) > 1:
        rows: list[list[Entry]] = [
            [Link(run_id, links.of_run(run_id)), said, ratio] for run_id, said, ratio in runs
        ]
        table = Table(["Run", "Answer of the run alone", "Ratio (95 % CI)"], rows, stacked=True)
        parts["history"] = f"<p>In each run of the same work:</p>{table.html()}"
    if not parts:
        return ""
    named = ", ".join(parts)
    summary = named[:1].upper() + named[1:]
    return f'<details class="bb-data"><summary>{summary}</summary>{"".join(parts.values())}</details>'
