"""Render the site from the published runs of a checkout, with Quarto if it is on PATH, else with our renderer.

The same checkout gives the same bytes, and rendering needs no network.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from benchbook.analyse.run import RESULTS_VARIABLE, RUN_VARIABLE
from benchbook.errors import RequestError, command
from benchbook.record import manifest
from benchbook.record.folder import cannot_write, require_folder
from benchbook.record.manifest import Export
from benchbook.report import colophon, data, notebook, page, render
from benchbook.report.colophon import Colophon
from benchbook.report.figure import bundle
from benchbook.site import index, keys, published
from benchbook.site.index import Page

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
            _render(root, pages, stale, results, beside, program)
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


def _render(
    root: Path, pages: list[Page], stale: list[Page], results: Path, output: Path, program: str | None
) -> None:
    """Write the stale pages. Without Quarto, those of one run share a process, and those about all runs another."""
    groups: dict[str | None, list[Page]] = {}
    for one in stale:
        groups.setdefault(one.run_id, []).append(one)
    feet = {one.name: colophon_of(pages, results, one) for one in stale}
    with ThreadPoolExecutor(max_workers=min(4, (os.cpu_count() or 1) + 1)) as pool:
        texts = pool.map(lambda held: _pages(root, results, held, output, feet, program), groups.values())
        for made in texts:
            for name, text in made.items():
                (output / f"{name}.html").write_text(text, encoding="utf-8")


def _pages(
    root: Path, results: Path, pages: list[Page], output: Path, feet: dict[str, Colophon], program: str | None
) -> dict[str, str]:
    """Return name → text of the pages of one run, or of those about all runs."""
    documents = [notebook.read(one.source, one.title) for one in pages]
    told = environment(root, results, pages[0], output)
    texts = render.executed(documents, told, (root / "reports").resolve(), program)
    return {
        one.name: page.render(document, "", index.navigation(one.name), SCRIPT, feet[one.name], text)
        for one, document, text in zip(pages, documents, texts, strict=True)
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
