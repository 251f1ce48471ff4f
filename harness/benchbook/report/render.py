"""Render the report of a run: with Quarto if it is on PATH, else with Benchbook's renderer.

The page of an experiment is ``reports/<slug>.qmd``, or ``template/experiment.qmd`` if it has no page of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.analyse.run import RESULTS_VARIABLE, RUN_VARIABLE
from benchbook.declare import checkout
from benchbook.errors import BenchbookError, RequestError, command, unknown
from benchbook.host import extras, temporary
from benchbook.record.folder import cannot_write
from benchbook.report import notebook, page
from benchbook.report.notebook import Work

if TYPE_CHECKING:
    from benchbook.report.colophon import Colophon

TIMEOUT_SECONDS = 900
TARGETS = {"html": "html", "pdf": "typst"}
"""Format → Quarto's format; Quarto contains typst, which makes the PDF."""

CONFIGURATION = "_quarto.yml"
"""File of Quarto's configuration, in ``reports``; other files there whose names begin with _ belong to it."""
PAGES = "reports"
OUTPUT = "_site"

DEFAULT = Path(__file__).parent / "template" / "experiment.qmd"
"""The page of every experiment that has no page of its own."""

LAST_LINES = 12
"""Lines of Quarto's output that an error repeats."""


def quarto() -> str | None:
    """Return the path of Quarto; None if it is not on PATH, or if what it runs cells with is not installed."""
    return None if extras.missing(extras.EXTRAS["quarto"]) else shutil.which("quarto")


def executed(
    works: Sequence[Work],
    folder: Path,
    program: str | None,
    finished: Callable[[Work], None] = lambda _: None,
) -> list[str | None]:
    """Run the cells of documents in ``folder``; return the text of each page as Quarto rendered it.

    ``finished`` is called after each work. Without ``program``, the documents run in one process, and their outputs are
    in their notebooks in place of texts.
    """
    if program is None:
        notebook.execute(works, folder, finished)
        return [None for work in works for _ in work.documents]
    texts: list[str | None] = []
    for work in works:
        for one in work.documents:
            made = with_quarto(program, one.path, work.environment, "html", folder)
            texts.append(page.text_of(made.decode()))
        finished(work)
    return texts


def with_quarto(
    program: str, source: Path, environment: dict[str, str], to: str, reports: Path, title: str = ""
) -> bytes:
    """Return the page or the PDF that Quarto makes of ``source`` as configured in ``reports``, perhaps with a title.

    Quarto renders a copy in an empty folder, so that it neither writes into ``reports`` nor renders other pages. Raises
    BenchbookError with the end of its output if it fails.
    """
    with temporary.folder("quarto") as scratch:
        project = Path(scratch) / "reports"
        project.mkdir()
        own = (reports / CONFIGURATION).is_file() or not checkout.is_apart()
        configured = reports if own else checkout.built_in() / PAGES
        for part in sorted(configured.glob("_*")):
            if part.is_file():
                shutil.copyfile(part, project / part.name)
        (project / CONFIGURATION).write_text(configuration(configured), encoding="utf-8")
        shutil.copyfile(source, project / source.name)
        arguments = [program, "render", source.name, "--to", TARGETS[to]]
        arguments += ["--execute-dir", str(reports.resolve()), "--no-execute-daemon"]
        arguments += ["-M", f"title:{title}"] if title else []
        added = {"QUARTO_PYTHON": sys.executable, "JUPYTER_PREFER_ENV_PATH": "1", **environment}
        done = _run(arguments, project, notebook.surroundings(added, scratch), source)
        made = project / OUTPUT / f"{source.stem}.{to}"
        if done.returncode != 0 or not made.is_file():
            output = "\n".join((done.stderr or done.stdout or "none").strip().splitlines()[-LAST_LINES:])
            raise BenchbookError(
                f"{source}: Quarto rendered no page (exit code {done.returncode}). The end of its output:\n{output}",
                "Correct the code block that the output names, or remove quarto from PATH to render without Quarto.",
            )
        return made.read_bytes()


def configuration(reports: Path) -> str:
    """Return Quarto's configuration for one page: that of ``reports`` without what it does after rendering.

    It is JSON, which is valid YAML. Raises RequestError if the configuration cannot be read.
    """
    import yaml  # type: ignore[import-untyped]

    path = reports / CONFIGURATION
    try:
        stated = yaml.safe_load(path.read_text(encoding="utf-8"))
        project = {**stated["project"], "output-dir": OUTPUT, "render": ["*.qmd"]}
    except (OSError, ValueError, yaml.YAMLError, TypeError, KeyError) as error:
        raise RequestError(
            f"{path}: cannot read Quarto's configuration ({error}).",
            "Restore it with Git, or remove quarto from PATH to render without it.",
        ) from error
    project.pop("post-render", None)
    return json.dumps({**stated, "project": project}, indent=2) + "\n"


def _run(
    arguments: list[str], folder: Path, environment: dict[str, str], source: Path
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            arguments,
            cwd=folder,
            env=environment,
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


def report(
    results: Path, run_id: str, reports: Path | None = None, to: str = "html", target: Path | None = None
) -> Path:
    """Render the report of a run and return the path of the file, which is replaced atomically.

    Without ``target``, the file is in the run's folder. A page of HTML has a data page beside it. ``reports`` is the
    folder of the .qmd files; by default, that of the experiment. Raises RequestError for an unknown format and for a
    place that must not be replaced, and BenchbookError if a cell or Quarto fails.
    """
    from benchbook.report import colophon, data, place

    if to not in FORMATS:
        raise unknown("report format", to, FORMATS, "--to")
    run = results / "runs" / run_id
    if not run.is_dir():
        raise unknown("run", run_id, [folder.name for folder in sorted(results.glob("runs/*"))], str(results))
    named, target = target is not None, target or run / FORMATS[to]
    place.require_replaceable([target], named=named)
    if to == "html":
        place.require_replaceable([data_page(target), numbers_file(target)], named=named)
    about = colophon.of_run(results, run_id)
    experiment = experiment_of(results, run_id)
    reports = reports or pages_of(experiment)
    source = document(experiment, reports)
    title = about.title if source == DEFAULT else ""
    environment = {RESULTS_VARIABLE: str(results.resolve()), RUN_VARIABLE: run_id}
    program = quarto()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(target, error) from error
    if to == "html":
        beside = data_page(target)
        # Links to the run's own files hold only from its folder.
        files = run if target.parent.resolve() == run.resolve() else None
        environment |= data.environment(beside, numbers_file(target), files)
        about_data = replace(about, title=f"Data: {about.title}", report=target.name)
        documents = [notebook.read(source, title), notebook.read(data.SOURCE, about_data.title)]
        feet = {target: replace(about, data=beside.name), beside: about_data}
        _pages(Work(documents, environment), feet, reports.resolve(), program)
    elif to == "pdf" and program:
        notebook.read(source)  # refuses what only Quarto renders
        write(target, with_quarto(program, source, environment, to, reports.resolve(), title))
    elif to == "pdf":
        if shutil.which("quarto"):
            extras.require(extras.EXTRAS["quarto"], "PDF")
        raise RequestError(
            "PDF needs Quarto, and there is no program quarto on PATH.",
            "Install Quarto or start a shell that has it with `nix develop`, or print report.html from a browser.",
        )
    else:
        whole = notebook.read(source, title)
        notebook.execute([Work([whole], environment)], reports.resolve())
        write(target, notebook.ipynb(whole))
    return target


def experiment_of(results: Path, run_id: str) -> str:
    """Return the experiment of a run in the database."""
    from benchbook.record import database

    with database.open(results, read_only=True) as connection:
        row = connection.execute("SELECT experiment FROM runs WHERE run_id = ?", [run_id]).fetchone()
    if row is None:
        raise RequestError(
            f"{results}: run {run_id} is not in the database.",
            f"Build the database again: {command('rebuild')}",
        )
    return str(row[0])


def pages_of(experiment: str) -> Path:
    """Return the folder with the page of an experiment: that of the project, or that beside the experiment.

    Cells are executed in it. A project without such a folder uses that of Benchbook.
    """
    own = checkout.root() / PAGES
    declared = checkout.experiments().get(experiment)
    beside = declared.parents[1] / PAGES if declared else own
    if beside.is_dir() and not (own / f"{experiment}.qmd").is_file():
        return beside
    return own if own.is_dir() else checkout.built_in() / PAGES


def document(experiment: str, reports: Path) -> Path:
    """Return the .qmd of an experiment, or the one of every experiment that has none."""
    # A page is code. Its name comes from the run, so it is looked up among the pages of the checkout.
    pages = {file.stem: file for file in reports.glob("*.qmd") if file.stem != "index"}
    if experiment not in pages:
        return DEFAULT
    page = pages[experiment].resolve()
    if not page.is_file() or page.parent != reports.resolve():
        raise RequestError(
            f"{pages[experiment]} leads to {page}, outside {reports}.",
            "A page is a file of the checkout: restore it with Git.",
        )
    return page


def _pages(work: Work, feet: dict[Path, Colophon], reports: Path, program: str | None) -> None:
    """Write the report and its data page; make the code for charts while the cells run."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        code = pool.submit(page.bundle)
        texts = executed([work], reports, program)
        made = list(zip(feet.items(), work.documents, texts, strict=True))
        for (target, about), one, text in reversed(made):
            write(target, page.render(one, code.result(), colophon=about, text=text))


def write(target: Path, content: str | bytes) -> None:
    """Write ``target`` atomically: write a new file next to it and rename that."""
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            neighbour = Path(file.name)
            try:
                file.write(content.encode() if isinstance(content, str) else content)
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
