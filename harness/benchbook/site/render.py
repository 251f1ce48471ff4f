"""Render the whole site from the published runs of a checkout."""

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

# The site by Quarto: a copy of ``reports/`` with only the pages that are rendered, one page after the other.


def render_by_quarto(program: str, root: Path, pages: list[Page], results: Path, output: Path) -> None:
    """Let Quarto render the pages into ``output``.

    Each page is rendered by itself because each shows its own run. Raises BenchbookError with Quarto's last words.
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
    """Return the project's _quarto.yml, written as JSON, which is YAML: only pages that exist stand in it."""
    links = [{"href": f"{name}.qmd", "text": words} for name, words in FIXED]
    stated = {
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
    return json.dumps(stated, indent=2) + "\n"


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
            f"{one.source}: Quarto could not be run to its end ({error}).",
            "Take quarto off PATH to render without it.",
        ) from error
    if done.returncode != 0 or not (project / "_site" / f"{one.name}.html").is_file():
        said = (done.stderr or done.stdout or "it printed nothing").strip().splitlines()[-LAST_LINES:]
        words = "\n".join(said)
        raise BenchbookError(
            f"{one.source}: Quarto could not render it (exit code {done.returncode}). Its last words:\n{words}",
            "Correct the cell it names, or take quarto off PATH to render without it.",
        )


# The whole site from a checkout: published runs into a passing results folder, every page from its .qmd.
#
# With Quarto on PATH, Quarto renders each page of a copy of ``reports/``; without it our own renderer does. Either
# way the same checkout gives the same bytes, and nothing is fetched.

SCRIPT = "benchbook.js"
"""The code that draws charts, once for all pages: a classic script, which browsers also read from file://."""
MARK = ".benchbook-site"
"""Stands in a folder that this program wrote, and so may replace."""


def site(root: Path, output: Path) -> Path:
    """Render every page into ``output`` and return it; an earlier site there is replaced whole.

    Raises RequestError where ``output`` holds something else, where published data is damaged, or where it cannot
    be written; BenchbookError where a page fails.
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
            program = render.found()
            if program:
                render_by_quarto(program, root, pages, results, beside)
            else:
                _own(root, pages, results, beside)
        (beside / MARK).write_text("written by bench site\n", encoding="utf-8")
        shutil.rmtree(output, ignore_errors=True)
        beside.rename(output)
    except OSError as error:
        raise cannot_write(output, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return output


def environment(root: Path, results: Path, one: Page) -> dict[str, str]:
    """Return what tells the cells of a page where they are and which run they show."""
    return {
        "BENCHBOOK_ROOT": str(root.resolve()),
        RESULTS_VARIABLE: str(results.resolve()),
        RUN_VARIABLE: one.run_id or "",
    }


def _own(root: Path, pages: list[Page], results: Path, output: Path) -> None:
    with ThreadPoolExecutor(max_workers=min(4, (os.cpu_count() or 1) + 1)) as pool:
        code = pool.submit(bundle)
        for text, one in zip(pool.map(lambda one: _page(root, results, one), pages), pages, strict=True):
            (output / f"{one.name}.html").write_text(text, encoding="utf-8")
        (output / SCRIPT).write_text(script(code.result()), encoding="utf-8")


def _page(root: Path, results: Path, one: Page) -> str:
    document = notebook.read(one.source)
    notebook.execute(document, environment(root, results, one), one.source.parent)
    return page.render(document, bundle="", navigation=index.bar(one.name), script=SCRIPT)


def script(code: str) -> str:
    """Return the code for charts and the part that draws them as one classic script."""
    return f"(async () => {{\n{code}\n{page.part('charts.js')}}})();\n"


def _may_write(output: Path) -> None:
    require_folder(output, "--output")
    if output.exists() and any(output.iterdir()) and not (output / MARK).is_file():
        raise RequestError(
            f"{output} exists and was not written by `{command('site')}`.",
            "Name another folder with --output DIR, or remove it.",
        )
