"""The whole site from a checkout: published runs into a passing results folder, every page from its .qmd.

With Quarto on PATH, Quarto renders each page of a copy of ``reports/``; without it our own renderer does. Either
way the same checkout gives the same bytes, and nothing is fetched.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchbook.errors import RequestError
from benchbook.record.folder import be_a_folder, cannot_write
from benchbook.report import kernel, notebook, page, quarto
from benchbook.report.bundle import bundle
from benchbook.report.results import RESULTS_VARIABLE, RUN_VARIABLE
from benchbook.site import navigation, published, quarto_site
from benchbook.site.navigation import Page

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
    pages = navigation.pages(root, found)
    missing = [one.source.name for one in pages if not one.source.is_file()]
    if missing:
        raise RequestError(
            f"{root / 'reports'} lacks {', '.join(missing)}.", "Run bench site in a checkout of Benchbook."
        )
    beside = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="benchbook-site-") as scratch:
            results = published.results(found, Path(scratch) / "results")
            shutil.rmtree(beside, ignore_errors=True)
            beside.mkdir(parents=True)
            program = quarto.found()
            if program:
                quarto_site.render(program, root, pages, results, beside)
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
    kernel.execute(document, environment(root, results, one), one.source.parent)
    return page.render(document, bundle="", navigation=navigation.bar(one.name), script=SCRIPT)


def script(code: str) -> str:
    """Return the code for charts and the part that draws them as one classic script."""
    return f"(async () => {{\n{code}\n{page.part('charts.js')}}})();\n"


def _may_write(output: Path) -> None:
    be_a_folder(output, "--output")
    if output.exists() and any(output.iterdir()) and not (output / MARK).is_file():
        raise RequestError(
            f"{output} is there already and was not written by bench site.",
            "Name another folder with --output DIR, or remove it.",
        )
