"""Render the report of a run, ``reports/<slug>.qmd``: with Quarto if it is on PATH, else with Benchbook's renderer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.analyse.run import RESULTS_VARIABLE, RUN_VARIABLE
from benchbook.errors import BenchbookError, RequestError, command, unknown

if TYPE_CHECKING:
    from benchbook.report.colophon import Colophon

TIMEOUT_SECONDS = 900
TARGETS = {"html": "html", "pdf": "typst"}
"""Format → Quarto's format; Quarto contains typst, which makes the PDF."""

LAST_LINES = 12
"""Lines of Quarto's output that an error repeats."""


def quarto() -> str | None:
    """Return the path of Quarto, or None if it is not on PATH."""
    return shutil.which("quarto")


def render(
    program: str,
    source: Path,
    environment: dict[str, str],
    target: Path,
    to: str,
    folder: Path,
    colophon: Colophon | None = None,
    title: str = "",
) -> None:
    """Render ``source`` to ``target`` with Quarto; raise BenchbookError with the end of its output if it fails.

    Quarto renders a copy in an empty folder, so that it neither writes into ``reports/`` nor renders the site. Its
    cells run in ``folder``. The page has the same style, code for charts and foot as one rendered without Quarto.
    """
    with tempfile.TemporaryDirectory(prefix="benchbook-quarto-") as scratch:
        project = Path(scratch)
        copy = project / source.name
        shutil.copyfile(source, copy)
        name = f"report{target.suffix}"
        arguments = [program, "render", copy.name, "--to", TARGETS[to], "--output", name]
        arguments += ["--execute-dir", str(folder), "--no-execute-daemon"]
        arguments += ["--metadata", "embed-resources:true", "--metadata", "toc:true"]
        arguments += ["--metadata", f"title:{title}"] if title else []
        if to == "html":
            arguments += _page_parts(project, colophon)
        done = _run(arguments, project, environment, source)
        made = project / name
        if done.returncode != 0 or not made.is_file():
            output = "\n".join((done.stderr or done.stdout or "none").strip().splitlines()[-LAST_LINES:])
            raise BenchbookError(
                f"{source}: Quarto rendered no page (exit code {done.returncode}). The end of its output:\n{output}",
                "Correct the cell it names, or remove quarto from PATH to render without it.",
            )
        neighbour = target.with_name(f".{target.name}.new")
        shutil.copyfile(made, neighbour)
        neighbour.replace(target)


def _page_parts(folder: Path, colophon: Colophon | None) -> list[str]:
    """Write the style, the foot and the code for charts next to the copy; return the arguments that include them."""
    from benchbook.report.figure import bundle
    from benchbook.report.page import part

    style = part("figures.css") + part("report.css") + part("site.css")
    (folder / "benchbook.css").write_text(style, encoding="utf-8")
    code = f'<script type="module" id="bb-bundle">{bundle()}\n{part("charts.js")}</script>\n'
    code = (colophon.html() + "\n" if colophon else "") + code
    (folder / "benchbook.html").write_text(code, encoding="utf-8")
    return ["--css", "benchbook.css", "--include-after-body", "benchbook.html"]


def _run(
    arguments: list[str], folder: Path, environment: dict[str, str], source: Path
) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    added = {"PYTHONPATH": path, "QUARTO_PYTHON": sys.executable, **environment}
    try:
        return subprocess.run(
            arguments,
            cwd=folder,
            env={**os.environ, **added},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BenchbookError(
            f"{source}: cannot run Quarto ({error}).",
            "Remove quarto from PATH to render without it.",
        ) from error


FORMATS = {"html": "report.html", "pdf": "report.pdf", "ipynb": "report.ipynb"}
"""Format of a report → name of the file in the run's folder."""


def data_page(page: Path) -> Path:
    """Return the data page of a report's page: ``report-data.html`` of ``report.html``."""
    return page.with_name(f"{page.stem}-data.html")


def numbers_file(page: Path) -> Path:
    """Return the CSV file with all numbers beside a report's page."""
    return page.with_name(f"{page.stem}-numbers.csv")


def report(results: Path, run_id: str, reports: Path, to: str = "html", target: Path | None = None) -> Path:
    """Render the report of a run and return the path of the file, which is replaced atomically.

    Without ``target``, the file is in the run's folder. A page of HTML has a data page beside it. ``reports`` is the
    folder of the .qmd files. Raises RequestError for an unknown format or a run without a report, and BenchbookError
    if a cell or Quarto fails.
    """
    from benchbook.report import colophon, data

    if to not in FORMATS:
        raise unknown("report format", to, FORMATS, "--to")
    run = results / "runs" / run_id
    if not run.is_dir():
        raise unknown("run", run_id, [folder.name for folder in sorted(results.glob("runs/*"))], str(results))
    source = document_of(results, run_id, reports).resolve()
    environment = {RESULTS_VARIABLE: str(results.resolve()), RUN_VARIABLE: run_id}
    target = target or run / FORMATS[to]
    program = quarto()
    if to == "html":
        beside = data_page(target)
        # Links to the run's own files hold only from its folder.
        files = run if target.parent.resolve() == run.resolve() else None
        environment |= data.environment(beside, numbers_file(target), files)
        about = colophon.of_run(results, run_id, beside.name)
        title = f"Data: {about.title}"
        about_data = replace(about, title=title, data="", report=target.name)
        if program:
            render(program, source, environment, target, to, source.parent, about)
            render(program, data.SOURCE, environment, beside, to, source.parent, about_data, title)
        else:
            _pages_without_quarto(source, environment, {target: about, beside: about_data})
    elif program and to == "pdf":
        render(program, source, environment, target, to, source.parent)
    elif to == "pdf":
        raise RequestError(
            "PDF needs Quarto, and there is no program quarto on PATH.",
            "Run Benchbook through Nix, which provides Quarto, or print report.html from a browser.",
        )
    else:
        write(target, _notebook_without_quarto(source, environment))
    return target


def document_of(results: Path, run_id: str, reports: Path) -> Path:
    """Return the .qmd of a run's experiment."""
    from benchbook.record import database

    with database.open(results, read_only=True) as connection:
        row = connection.execute("SELECT experiment FROM runs WHERE run_id = ?", [run_id]).fetchone()
    if row is None:
        raise RequestError(
            f"{results}: run {run_id} is not in the database.",
            f"Build the database again: {command('rebuild')}",
        )
    slug = str(row[0])
    path = reports / f"{slug}.qmd"
    if not path.is_file():
        have = sorted(file.stem for file in reports.glob("*.qmd") if file.stem != "index")
        raise unknown("report", slug, have, str(reports))
    return path


def _notebook_without_quarto(source: Path, environment: dict[str, str]) -> str:
    """Return the executed notebook."""
    import nbformat

    from benchbook.report import notebook

    document = notebook.read(source)
    notebook.execute(document, environment, source.parent)
    return str(nbformat.writes(document.notebook)) + "\n"


def _pages_without_quarto(source: Path, environment: dict[str, str], targets: dict[Path, Colophon]) -> None:
    """Write the report and its data page, executed in one process; make the code for charts while the cells run."""
    from benchbook.report import data, notebook, page
    from benchbook.report.figure import bundle

    (target, about), (beside, about_data) = targets.items()
    document, other = notebook.read(source), notebook.read(data.SOURCE, about_data.title)
    with ThreadPoolExecutor(max_workers=1) as pool:
        code = pool.submit(bundle)
        notebook.execute(document, environment, source.parent, other)
        write(beside, page.render(other, code.result(), colophon=about_data))
        write(target, page.render(document, code.result(), colophon=about))


def write(target: Path, text: str) -> None:
    """Write ``target`` atomically: write a new file next to it and rename that."""
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
            f"{target}: cannot write the report ({error.strerror or error}).",
            f"Make the folder writable or free some space, then run: {command('report')}",
        ) from error
