"""Render the site from the published runs of a checkout, with Quarto if it is on PATH, else with our renderer.

The same checkout gives the same bytes, and rendering needs no network.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from benchbook.analyse.run import RESULTS_VARIABLE, RUN_VARIABLE
from benchbook.errors import BenchbookError, RequestError, command
from benchbook.record import manifest
from benchbook.record.folder import cannot_write, require_folder
from benchbook.record.manifest import Export
from benchbook.report import colophon, data, notebook, page, render
from benchbook.report.colophon import Colophon
from benchbook.report.figure import bundle
from benchbook.report.page import part
from benchbook.report.render import LAST_LINES, TIMEOUT_SECONDS
from benchbook.site import index, keys, published
from benchbook.site.index import FIXED, Page


def render_with_quarto(program: str, root: Path, pages: list[Page], results: Path, output: Path) -> None:
    """Render the pages into ``output`` with Quarto; raise BenchbookError with the end of its output if it fails.

    Quarto renders one page of a copy of ``reports/`` at a time, because each page shows another run.
    """
    with tempfile.TemporaryDirectory(prefix="benchbook-quarto-") as scratch:
        project = Path(scratch)
        for one in pages:
            shutil.copyfile(one.source, project / f"{one.name}.qmd")
        (project / "_quarto.yml").write_text(configuration(pages), encoding="utf-8")
        style = part("figures.css") + part("site.css")
        (project / "benchbook.css").write_text(style, encoding="utf-8")
        for one in pages:
            tag = f'<script src="{SCRIPT}" id="bb-bundle"></script>'
            foot = colophon_of(pages, results, one).html()
            (project / "benchbook.html").write_text(f"{foot}\n{tag}\n", encoding="utf-8")
            _run(program, project, one, environment(root, results, one, output), root / "reports")
        shutil.copytree(project / "_site", output, dirs_exist_ok=True)


def configuration(pages: list[Page]) -> str:
    """Return the project's _quarto.yml, with only the pages that exist; it is JSON, which is valid YAML."""
    links = [{"href": f"{name}.qmd", "text": text} for name, text in FIXED]
    project = {
        "project": {"type": "website", "output-dir": "_site", "render": [f"{one.name}.qmd" for one in pages]},
        "website": {"title": "Benchbook", "search": False, "navbar": {"left": links}},
        "format": {
            "html": {
                "toc": True,
                "theme": {"light": "cosmo", "dark": "darkly"},
                "css": "benchbook.css",
                "include-after-body": "benchbook.html",
            }
        },
        "execute": {"echo": False, "freeze": False},
    }
    return json.dumps(project, indent=2) + "\n"


def _run(program: str, project: Path, one: Page, added: dict[str, str], folder: Path) -> None:
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    command = [program, "render", f"{one.name}.qmd", "--to", "html", "--execute-dir", str(folder.resolve())]
    command += ["--no-execute-daemon"]
    command += ["--metadata", f"title:{one.title}"] if one.title else []
    try:
        done = subprocess.run(
            command,
            cwd=project,
            env={**os.environ, "PYTHONPATH": path, "QUARTO_PYTHON": sys.executable, **added},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BenchbookError(
            f"{one.source}: cannot run Quarto ({error}).",
            "Remove quarto from PATH to render without it.",
        ) from error
    if done.returncode != 0 or not (project / "_site" / f"{one.name}.html").is_file():
        output = "\n".join((done.stderr or done.stdout or "none").strip().splitlines()[-LAST_LINES:])
        raise BenchbookError(
            f"{one.source}: Quarto rendered no page (exit code {done.returncode}). The end of its output:\n{output}",
            "Correct the cell it names, or remove quarto from PATH to render without it.",
        )


SCRIPT = "benchbook.js"
"""The code that draws charts, for all pages: a classic script, which browsers also load from file://."""
MARK = ".benchbook-site"
"""File in a folder that Benchbook wrote, and may therefore replace: JSON with the key of each page."""
DATA = "data"
"""Folder of the site with the files of each published run."""
NUMBERS = "numbers.csv"


def site(root: Path, output: Path) -> Path:
    """Render every page into ``output`` and return it; replace an earlier site there.

    Pages of the earlier site are kept if neither their data nor any source of theirs has changed. Raises RequestError
    if ``output`` is not an earlier site or cannot be written, or if published data is damaged, and BenchbookError if a
    page fails.
    """
    _may_write(output)
    found = published.all_published(root)
    pages = index.pages(root, found)
    missing = [one.source.name for one in pages if not one.source.is_file()]
    if missing:
        raise RequestError(
            f"{root / 'reports'} lacks {', '.join(missing)}.",
            f"Run `{command('site')}` in a checkout of Benchbook.",
        )
    beside = output.with_name(f".{output.name}.{os.getpid()}.part")
    program = render.quarto()
    made_of = keys.of(root, pages, found, program)
    try:
        with tempfile.TemporaryDirectory(prefix="benchbook-site-") as scratch:
            results = published.results(found, Path(scratch) / "results")
            shutil.rmtree(beside, ignore_errors=True)
            beside.mkdir(parents=True)
            for one in found:
                if not one.against_itself:
                    _copy_data(one, beside / DATA / one.experiment)
            stale = [one for one in pages if not _kept(output, beside, one, made_of[one.name])]
            if program and stale:  # Quarto's pages are one project
                stale = pages
                render_with_quarto(program, root, pages, results, beside)
            elif stale:
                _without_quarto(root, pages, stale, results, beside)
            _write_script(output, beside, fresh=len(stale) == len(pages))
        (beside / MARK).write_text(json.dumps(made_of, indent=2) + "\n", encoding="utf-8")
        shutil.rmtree(output, ignore_errors=True)
        beside.rename(output)
    except OSError as error:
        raise cannot_write(output, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return output


def _copy_data(export: Export, target: Path) -> None:
    """Copy the files of a published run, which the data page links."""
    for entry in (*export.files, {"file": manifest.FILE}):
        place = target / str(entry["file"])
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(export.folder / str(entry["file"]), place)


def _kept(earlier: Path, output: Path, one: Page, key: str) -> bool:
    """Copy a page of the earlier site if its key is the same; return whether it was."""
    try:
        stated = json.loads((earlier / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    files = [f"{one.name}.html", *([f"{DATA}/{one.experiment}/{NUMBERS}"] if one.data else [])]
    if not isinstance(stated, dict) or stated.get(one.name) != key:
        return False
    if not all((earlier / name).is_file() for name in files):
        return False
    for name in files:
        shutil.copyfile(earlier / name, output / name)
    return True


def _write_script(earlier: Path, output: Path, *, fresh: bool) -> None:
    """Write the code for charts, which takes a second to make; keep that of the earlier site if a page was kept."""
    if not fresh and (earlier / SCRIPT).is_file():
        shutil.copyfile(earlier / SCRIPT, output / SCRIPT)
    else:
        (output / SCRIPT).write_text(script(bundle()), encoding="utf-8")


def environment(root: Path, results: Path, one: Page, output: Path) -> dict[str, str]:
    """Return the environment variables that name the checkout, the results, the run of a page and its data."""
    found = {
        "BENCHBOOK_ROOT": str(root.resolve()),
        RESULTS_VARIABLE: str(results.resolve()),
        RUN_VARIABLE: one.run_id or "",
    }
    if one.run_id is None:
        return found
    files = output / DATA / one.experiment
    return found | data.environment(output / index.data_page(one.experiment), files / NUMBERS, files)


def colophon_of(pages: list[Page], results: Path, one: Page) -> Colophon:
    """Return what the foot of a page says; a page about all runs has the date of the latest."""
    if one.run_id is not None:
        if one.data:
            about = colophon.of_run(results, one.run_id, title=one.title)
            return replace(about, report=f"{one.experiment}.html")
        return colophon.of_run(results, one.run_id, index.data_page(one.experiment))
    dates = [colophon.of_run(results, page.run_id).date for page in pages if page.run_id]
    title = one.title or notebook.read(one.source).title
    return Colophon(title, f"benchbook-{one.name}", max(dates, default=""))


def _without_quarto(root: Path, pages: list[Page], stale: list[Page], results: Path, output: Path) -> None:
    """Render pages with our renderer: those of one run, and those about all runs, in one process each."""
    groups: dict[str | None, list[Page]] = {}
    for one in stale:
        groups.setdefault(one.run_id, []).append(one)
    feet = {one.name: colophon_of(pages, results, one) for one in stale}
    with ThreadPoolExecutor(max_workers=min(4, (os.cpu_count() or 1) + 1)) as pool:
        for texts in pool.map(lambda held: _pages(root, results, held, output, feet), groups.values()):
            for name, text in texts.items():
                (output / f"{name}.html").write_text(text, encoding="utf-8")


def _pages(
    root: Path, results: Path, pages: list[Page], output: Path, feet: dict[str, Colophon]
) -> dict[str, str]:
    """Return name → text of the pages, whose cells run in one process."""
    documents = [notebook.read(one.source, one.title) for one in pages]
    first, *others = documents
    folder = (root / "reports").resolve()
    notebook.execute(first, environment(root, results, pages[0], output), folder, *others)
    return {
        one.name: page.render(
            document, "", index.navigation(one.name), script=SCRIPT, colophon=feet[one.name]
        )
        for one, document in zip(pages, documents, strict=True)
    }


def script(code: str) -> str:
    """Return the code for charts, and the calls that draw them, as one classic script."""
    return f"(async () => {{\n{code}\n{page.part('charts.js')}}})();\n"


def _may_write(output: Path) -> None:
    require_folder(output, "--output")
    if output.exists() and any(output.iterdir()) and not (output / MARK).is_file():
        raise RequestError(
            f"{output} is not empty, and `{command('site')}` did not write it.",
            "Name another folder with --output DIR, or remove this one.",
        )
