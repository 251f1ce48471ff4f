"""The data page of a run: its files, and links to it. The page itself is ``template/data.qmd``, for any run.

Three environment variables say where the files are: without them, a report has no link and the page lists no file.
"""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from benchbook.analyse import comparison, quantity
from benchbook.analyse.run import Run
from benchbook.declare.metric import describe
from benchbook.record.folder import write_whole
from benchbook.record.tables import BY_NAME
from benchbook.report import links
from benchbook.report.table import Markdown, escape_html, missing

PAGE_VARIABLE = "BENCHBOOK_DATA_PAGE"
"""Path of the data page."""
NUMBERS_VARIABLE = "BENCHBOOK_DATA_NUMBERS"
"""Path of the CSV file with all numbers, which the page writes."""
FOLDER_VARIABLE = "BENCHBOOK_DATA_FOLDER"
"""Folder with the run's own files."""

SOURCE = Path(__file__).parent / "template" / "data.qmd"
FILES = {
    "run.json": "the run: provenance, machine, programs, declarations",
    "plan.json": "the plan: every trial in its order",
    "environment.json": "the environment: machine, controls, programs and versions",
    "manifest.json": "bytes and sha256 of every file",
    "ro-crate-metadata.json": "the folder as an RO-Crate 1.1",
}
"""Files beside the tables → what they hold."""


def environment(page: Path, numbers: Path, folder: Path | None) -> dict[str, str]:
    """Return the environment variables for the cells of a report and of its data page.

    The page links the files of ``folder``; without it, only the numbers.
    """
    return {
        PAGE_VARIABLE: str(page.resolve()),
        NUMBERS_VARIABLE: str(numbers.resolve()),
        FOLDER_VARIABLE: str(folder.resolve()) if folder else "",
    }


def address(file: Path) -> str:
    """Return the address of a file of the run's folder as seen from its pages; empty if they link none."""
    page, folder = os.environ.get(PAGE_VARIABLE), os.environ.get(FOLDER_VARIABLE)
    if not page or not folder or not (Path(folder) / file).is_file():
        return ""
    return Path(os.path.relpath(Path(folder) / file, Path(page).parent)).as_posix()


def link() -> Markdown:
    """Return a sentence with the link to the data page; empty if the page is rendered without one."""
    page = os.environ.get(PAGE_VARIABLE)
    if not page:
        return Markdown("")
    tables = any((Path(os.environ.get(FOLDER_VARIABLE) or page) / "tables").glob("*.parquet"))
    return Markdown(
        f"[All data of this run]({Path(page).name}): numbers as CSV{' and Parquet' if tables else ''}, telemetry,"
        " trials, environment, and the rules of measurement."
        + (
            f" [Each trial]({links.page_address()}) has its own part of a page."
            if links.page_address()
            else ""
        )
    )


def files(run: Run) -> Markdown:
    """Write all numbers as CSV, and return a list of the run's files with links and sizes."""
    page = os.environ.get(PAGE_VARIABLE)
    if not page:
        return missing("The list of files", "the page was rendered without its folder")
    numbers = Path(os.environ[NUMBERS_VARIABLE])
    write_whole(numbers, numbers_text(run).encode())  # never through a link
    held = os.environ.get(FOLDER_VARIABLE)
    folder = Path(held) if held else None
    found = [(numbers, "every mean with its 95 % interval, a row for each phase, metric and setup")]
    if folder:
        found += [(folder / name, what) for name, what in FILES.items() if (folder / name).is_file()]
    for path in sorted(folder.glob("tables/*.parquet")) if folder else ():
        table = BY_NAME.get(path.stem)
        what = table.comment.rstrip(".") if table else "a table of the run"
        found.append((path, f"{what[0].lower()}{what[1:]}"))
    here = Path(page).parent
    rows = [
        f'<li><a href="{escape_html(Path(os.path.relpath(path, here)).as_posix())}">{escape_html(path.name)}</a> '
        f"({quantity.text(float(path.stat().st_size), 'B')}): {escape_html(what)}</li>"
        for path, what in found
    ]
    return Markdown(f'<ul class="bb-files">{"".join(rows)}</ul>')


COLUMNS = ("phase", "metric", "title", "unit", "better", "setup", "trials", "mean", "low", "high")


def numbers_text(run: Run) -> str:
    """Return all numbers of a run as CSV: geometric means over trials with their 95 % intervals."""
    factors = list(dict.fromkeys(name for cell in run.cells for name in cell.levels))
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([*COLUMNS, *factors])
    for phase, metric in run.measured:
        for one in comparison.estimates(run, phase, metric):
            if not one.points:
                continue
            levels = [one.cell.levels.get(name, "") for name in factors]
            values = ["" if value is None else repr(value) for value in (one.value, one.low, one.high)]
            known = [phase, metric, describe(metric).title, one.unit, one.direction, one.cell.label]
            writer.writerow([*known, len(one.points), *values, *levels])
    return written.getvalue()
