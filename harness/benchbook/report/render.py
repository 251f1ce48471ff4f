"""Render the report of a run, ``reports/<slug>.qmd``: with Quarto if it is on PATH, else with Benchbook's renderer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchbook.analyse.run import RESULTS_VARIABLE, RUN_VARIABLE
from benchbook.errors import BenchbookError, RequestError, command, unknown

TIMEOUT_SECONDS = 900
TARGETS = {"html": "html", "pdf": "typst"}
"""Format → Quarto's format; Quarto contains typst, which makes the PDF."""

LAST_LINES = 12
"""Lines of Quarto's output that an error repeats."""


def quarto() -> str | None:
    """Return the path of Quarto, or None if it is not on PATH."""
    return shutil.which("quarto")


def render(program: str, source: Path, environment: dict[str, str], target: Path, to: str) -> None:
    """Render ``source`` to ``target`` with Quarto; raise BenchbookError with the end of its output if it fails.

    Quarto renders a copy in an empty folder, so that it neither writes into ``reports/`` nor renders the site. The
    page has the same style and code for charts as one rendered without Quarto.
    """
    with tempfile.TemporaryDirectory(prefix="benchbook-quarto-") as scratch:
        folder = Path(scratch)
        copy = folder / source.name
        shutil.copyfile(source, copy)
        name = f"report{target.suffix}"
        arguments = [program, "render", copy.name, "--to", TARGETS[to], "--output", name]
        arguments += ["--execute-dir", str(source.parent), "--no-execute-daemon"]
        arguments += ["--metadata", "embed-resources:true", "--metadata", "toc:true"]
        if to == "html":
            arguments += _page_parts(folder)
        done = _run(arguments, folder, environment, source)
        made = folder / name
        if done.returncode != 0 or not made.is_file():
            output = "\n".join((done.stderr or done.stdout or "none").strip().splitlines()[-LAST_LINES:])
            raise BenchbookError(
                f"{source}: Quarto rendered no page (exit code {done.returncode}). The end of its output:\n{output}",
                "Correct the cell it names, or remove quarto from PATH to render without it.",
            )
        neighbour = target.with_name(f".{target.name}.new")
        shutil.copyfile(made, neighbour)
        neighbour.replace(target)


def _page_parts(folder: Path) -> list[str]:
    """Write the style and the code for charts next to the copy; return the arguments that include them."""
    from benchbook.report.figure import bundle
    from benchbook.report.page import part

    (folder / "benchbook.css").write_text(part("figures.css"), encoding="utf-8")
    code = f'<script type="module" id="bb-bundle">{bundle()}\n{part("charts.js")}</script>\n'
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


def report(results: Path, run_id: str, reports: Path, to: str = "html") -> Path:
    """Render the report of a run into its folder and return the path of the file, which is replaced atomically.

    ``reports`` is the folder of the .qmd files. Raises RequestError for an unknown format or a run without a report,
    and BenchbookError if a cell or Quarto fails.
    """
    if to not in FORMATS:
        raise unknown("report format", to, FORMATS, "--to")
    run = results / "runs" / run_id
    if not run.is_dir():
        raise unknown("run", run_id, [folder.name for folder in sorted(results.glob("runs/*"))], str(results))
    source = document_of(results, run_id, reports)
    environment = {RESULTS_VARIABLE: str(results.resolve()), RUN_VARIABLE: run_id}
    target = run / FORMATS[to]
    program = quarto()
    if program and to != "ipynb":
        render(program, source.resolve(), environment, target, to)
    elif to == "pdf":
        raise RequestError(
            "PDF needs Quarto, and there is no program quarto on PATH.",
            "Run Benchbook through Nix, which provides Quarto, or print report.html from a browser.",
        )
    else:
        write(target, _without_quarto(source, environment, to))
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


def _without_quarto(source: Path, environment: dict[str, str], to: str) -> str:
    """Render without Quarto; make the code for charts while the cells run."""
    from benchbook.report import notebook, page
    from benchbook.report.figure import bundle

    document = notebook.read(source)
    if to == "ipynb":
        import nbformat

        notebook.execute(document, environment, source.parent)
        return str(nbformat.writes(document.notebook)) + "\n"
    with ThreadPoolExecutor(max_workers=1) as pool:
        code = pool.submit(bundle)
        notebook.execute(document, environment, source.parent)
        return page.render(document, code.result())


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
