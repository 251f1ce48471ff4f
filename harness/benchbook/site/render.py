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
from pathlib import Path

from benchbook.analyse.run import RESULTS_VARIABLE, RUN_VARIABLE
from benchbook.errors import BenchbookError, RequestError, command
from benchbook.record.folder import cannot_write, require_folder
from benchbook.report import notebook, page, render
from benchbook.report.figure import bundle
from benchbook.report.page import part
from benchbook.report.render import LAST_LINES, TIMEOUT_SECONDS
from benchbook.site import index, published
from benchbook.site.index import FIXED, Page


def render_with_quarto(program: str, root: Path, pages: list[Page], results: Path, output: Path) -> None:
    """Render the pages into ``output`` with Quarto; raise BenchbookError with the end of its output if it fails.

    Quarto renders one page of a copy of ``reports/`` at a time, because each page shows another run.
    """
    with tempfile.TemporaryDirectory(prefix="benchbook-quarto-") as scratch:
        project = Path(scratch)
        for one in pages:
            shutil.copyfile(one.source, project / one.source.name)
        (project / "_quarto.yml").write_text(configuration(pages), encoding="utf-8")
        (project / "benchbook.css").write_text(part("figures.css"), encoding="utf-8")
        tag = f'<script src="{SCRIPT}" id="bb-bundle"></script>\n'
        (project / "benchbook.html").write_text(tag, encoding="utf-8")
        for one in pages:
            _run(program, project, one, environment(root, results, one), root / "reports")
        shutil.copytree(project / "_site", output, dirs_exist_ok=True)
    (output / SCRIPT).write_text(script(bundle()), encoding="utf-8")


def configuration(pages: list[Page]) -> str:
    """Return the project's _quarto.yml, with only the pages that exist; it is JSON, which is valid YAML."""
    links = [{"href": f"{name}.qmd", "text": text} for name, text in FIXED]
    project = {
        "project": {"type": "website", "output-dir": "_site", "render": [one.source.name for one in pages]},
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
    command = [program, "render", one.source.name, "--to", "html", "--execute-dir", str(folder.resolve())]
    command += ["--no-execute-daemon"]
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
"""File in a folder that Benchbook wrote, and may therefore replace."""


def site(root: Path, output: Path) -> Path:
    """Render every page into ``output`` and return it; replace an earlier site there.

    Raises RequestError if ``output`` is not an earlier site or cannot be written, or if published data is damaged, and
    BenchbookError if a page fails.
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
    try:
        with tempfile.TemporaryDirectory(prefix="benchbook-site-") as scratch:
            results = published.results(found, Path(scratch) / "results")
            shutil.rmtree(beside, ignore_errors=True)
            beside.mkdir(parents=True)
            program = render.quarto()
            if program:
                render_with_quarto(program, root, pages, results, beside)
            else:
                _without_quarto(root, pages, results, beside)
        (beside / MARK).write_text("written by bench site\n", encoding="utf-8")
        shutil.rmtree(output, ignore_errors=True)
        beside.rename(output)
    except OSError as error:
        raise cannot_write(output, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return output


def environment(root: Path, results: Path, one: Page) -> dict[str, str]:
    """Return the environment variables that name the checkout, the results and the run of a page."""
    return {
        "BENCHBOOK_ROOT": str(root.resolve()),
        RESULTS_VARIABLE: str(results.resolve()),
        RUN_VARIABLE: one.run_id or "",
    }


def _without_quarto(root: Path, pages: list[Page], results: Path, output: Path) -> None:
    with ThreadPoolExecutor(max_workers=min(4, (os.cpu_count() or 1) + 1)) as pool:
        code = pool.submit(bundle)
        for text, one in zip(pool.map(lambda one: _page(root, results, one), pages), pages, strict=True):
            (output / f"{one.name}.html").write_text(text, encoding="utf-8")
        (output / SCRIPT).write_text(script(code.result()), encoding="utf-8")


def _page(root: Path, results: Path, one: Page) -> str:
    document = notebook.read(one.source)
    notebook.execute(document, environment(root, results, one), one.source.parent)
    return page.render(document, bundle="", navigation=index.navigation(one.name), script=SCRIPT)


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
