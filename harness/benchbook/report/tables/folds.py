"""The folded end of a report: published numbers, checks, durability, size, limits, how to rerun."""

from __future__ import annotations

from benchbook.analyse.run import Run
from benchbook.report import answer, conclusion, data
from benchbook.report.figure import Figure
from benchbook.report.table import Block, Details, Markdown, Missing, Table
from benchbook.report.tables import accounted, environment, verdicts, work

Part = Table | Markdown | Block | Figure


def closing(run: Run, **others: Part | list[Part]) -> Block:
    """Return the folded parts that every report has, and the link to its data page.

    ``others`` are parts of one report, by their summary with underscores for spaces; they come first.
    """
    parts: dict[str, Part | list[Part]] = {
        **{name.replace("_", " "): part for name, part in others.items()},
        "Published numbers and their use": [accounted.table(run)],
        "Checks of the work": [work.gaps_table(run), answer.table(run), work.checks(run)],
        "Configurations and their durability": environment.durability_table(run),
        "All limits of this run": conclusion.limits(run),
        "How to run it again": verdicts.rerun_commands(run),
    }
    folded = {name: made for name, part in parts.items() if (made := _joined(part))}
    markup = "".join(Details(name, made).html() for name, made in folded.items())
    written = "\n\n".join(f"**{name}**\n\n{_written(made)}" for name, made in folded.items())
    link = data.link()
    if link.markdown:
        markup, written = markup + link.html(), f"{written}\n\n{link.markdown}"
    return Block(f'<div class="bb-folds">{markup}</div>', written)


def _joined(part: Part | list[Part]) -> Table | Markdown | Block | None:
    """Return one block of several parts, without those that lack data; None if nothing is left."""
    parts = [one for one in (part if isinstance(part, list) else [part]) if not isinstance(one, Missing)]
    if not parts:
        return None
    written = [one.alt if isinstance(one, Figure) else _written(one) for one in parts]
    return Block("".join(one.html() for one in parts), "\n\n".join(written))


def _written(part: Table | Markdown | Block) -> str:
    return part.markdown() if isinstance(part, Table) else part.markdown
