"""The report of a run: ``reports/<slug>.qmd`` to ``results/runs/<run_id>/report.html``.

With Quarto on PATH, Quarto renders the page; without it the same file is executed and rendered here.
"""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchbook.errors import RequestError, unknown
from benchbook.report import quarto
from benchbook.report.results import RESULTS_VARIABLE, RUN_VARIABLE

FORMATS = {"html": "report.html", "pdf": "report.pdf", "ipynb": "report.ipynb"}
"""What a report can be rendered to, and the file's name in the run's folder."""


def report(results: Path, run_id: str, reports: Path, to: str = "html") -> Path:
    """Render the report of a run and return the path of the file, which is replaced whole or not at all.

    ``reports`` is the folder of the .qmd files. Raises RequestError for an unknown format or a run
    without a report, and BenchbookError where a cell or Quarto fails.
    """
    if to not in FORMATS:
        raise unknown("report format", to, FORMATS, "--to")
    run = results / "runs" / run_id
    if not run.is_dir():
        raise unknown("run", run_id, [folder.name for folder in sorted(results.glob("runs/*"))], str(results))
    source = document_of(results, run_id, reports)
    environment = {RESULTS_VARIABLE: str(results.resolve()), RUN_VARIABLE: run_id}
    target = run / FORMATS[to]
    program = quarto.found()
    if program and to != "ipynb":
        quarto.render(program, source.resolve(), environment, target, to)
    elif to == "pdf":
        raise RequestError(
            "A report in PDF needs Quarto, and there is no program quarto on PATH.",
            "Start through Nix, which brings it, or print report.html from a browser.",
        )
    else:
        write(target, _own(source, environment, to))
    return target


def document_of(results: Path, run_id: str, reports: Path) -> Path:
    """Return the .qmd of a run's experiment."""
    from benchbook.record import database

    with database.open(results, read_only=True) as connection:
        row = connection.execute("SELECT experiment FROM runs WHERE run_id = ?", [run_id]).fetchone()
    if row is None:
        raise RequestError(f"{results}: run {run_id} is not in the database.", "Enter it with: bench rebuild")
    slug = str(row[0])
    path = reports / f"{slug}.qmd"
    if not path.is_file():
        have = sorted(file.stem for file in reports.glob("*.qmd") if file.stem != "index")
        raise unknown("report", slug, have, str(reports))
    return path


def _own(source: Path, environment: dict[str, str], to: str) -> str:
    """Render without Quarto; the code for charts is made while the cells run."""
    from benchbook.report import kernel, notebook, page
    from benchbook.report.bundle import bundle

    document = notebook.read(source)
    if to == "ipynb":
        import nbformat

        kernel.execute(document, environment, source.parent)
        return str(nbformat.writes(document.notebook)) + "\n"
    with ThreadPoolExecutor(max_workers=1) as pool:
        code = pool.submit(bundle)
        kernel.execute(document, environment, source.parent)
        return page.render(document, code.result())


def write(target: Path, text: str) -> None:
    """Write ``target`` whole or not at all, from a neighbour that is renamed into place."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as file:
            neighbour = Path(file.name)
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                neighbour.unlink(missing_ok=True)
                raise
        neighbour.chmod(0o644)
        neighbour.replace(target)
    except OSError as error:
        raise RequestError(
            f"{target}: the report cannot be written ({error.strerror or error}).",
            "Make the folder writable or free some space, then: bench report",
        ) from error
