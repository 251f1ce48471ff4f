"""Render the site from the published runs of a checkout, with Quarto if it is on PATH, else with our renderer.

The same checkout gives the same bytes, and rendering needs no network.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from benchbook.analyse.recording import Recording
from benchbook.analyse.run import RESULTS_VARIABLE, RUN_VARIABLE, Run
from benchbook.declare import checkout
from benchbook.errors import RequestError, command, unknown
from benchbook.host import temporary
from benchbook.record import database, manifest
from benchbook.record.folder import cannot_write
from benchbook.record.manifest import Export
from benchbook.report import colophon, data, links, notebook, page, render, trials
from benchbook.report.colophon import Colophon
from benchbook.report.notebook import Work
from benchbook.site import index, keys, place, published
from benchbook.site.index import Page
from benchbook.site.place import DATA, SCRIPT

NUMBERS = "numbers.csv"
MOST_PROCESSES = 4
"""Most processes that render pages; each takes about 500 MB of memory."""


def site(root: Path, output: Path, note: Callable[[str], None] = lambda _: None, only: str = "") -> Path:
    """Render every page into ``output`` and return it; replace the files of an earlier site there, and no others.

    Pages of the earlier site are kept if neither their data nor any source of theirs has changed. ``note`` gets a line
    for each page that is rendered. Raises RequestError if ``output`` is not an earlier site or cannot be written, or if
    published data is damaged, and BenchbookError if a page fails. A run of another machine that is unusable hides no
    page: the site is written without it, then RequestError is raised. With ``only``, the pages of one experiment are
    rendered; those of the earlier site stay as they are.
    """
    place.require_writable(output)
    held, problems = published.ledgers(root)
    found = [one.export for runs in held.values() for one in runs]
    pages = index.pages(root, published.shown(held))
    missing = [one.source.name for one in pages if not one.source.is_file()]
    if missing:
        raise RequestError(
            f"{root / 'reports'} lacks {', '.join(missing)}.",
            f"Run `{command('site')}` in a checkout of Benchbook.",
        )
    beside = output.with_name(f".{output.name}.{os.getpid()}.part")
    program = render.quarto()
    made_of = keys.of(root, pages, found, program)
    if only:
        made_of = _of_one(only, pages, made_of, place.read(output).pages)
        pages = [one for one in pages if one.name in made_of]
    try:
        with temporary.folder("site") as scratch:
            results = published.results(found, Path(scratch) / "results")
            shutil.rmtree(beside, ignore_errors=True)
            beside.mkdir(parents=True)
            for one in found:
                _copy_data(one, beside / DATA / one.experiment / one.run_id)
            stale = [one for one in pages if not _kept(output, beside, one, made_of[one.name])]
            if len(stale) < len(pages):
                note(f"unchanged: {len(pages) - len(stale)} of {len(pages)} pages")
            _render(root, pages, stale, results, beside, program, note)
            made_of |= _write_trials(pages, found, results, beside, output, made_of)
            _write_script(output, beside, fresh=len(stale) == len(pages))
        place.put(beside, output, made_of)
    except OSError as error:
        raise cannot_write(output, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    if problems:
        raise RequestError(
            f"{output} is rendered without {_runs(len(problems))} of other machines. "
            + " ".join(map(str, problems))
        )
    return output


def _of_one(
    experiment: str, pages: list[Page], made_of: dict[str, str], earlier: dict[str, str]
) -> dict[str, str]:
    """Return the keys of the pages of an experiment, and of those of the earlier site as it has them."""
    names = {one.experiment for one in pages if one.experiment}
    if experiment not in names:
        raise unknown("experiment with a published run", experiment, names)
    chosen = [one.name for one in pages if one.experiment == experiment]
    return {name: key for name, key in earlier.items() if name in made_of} | {
        name: made_of[name] for name in chosen
    }


def _runs(number: int) -> str:
    return "1 run" if number == 1 else f"{number} runs"


def _copy_data(export: Export, target: Path) -> None:
    """Copy the files of a published run, which the data page links."""
    for name in (*(entry.file for entry in export.files), manifest.FILE):
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(export.folder / name, copy)


def _kept(earlier: Path, output: Path, one: Page, key: str) -> bool:
    """Copy a page of the earlier site if its key is the same; return whether it was."""
    files = [f"{one.name}.html", *([f"{DATA}/{one.experiment}/{one.run_id}/{NUMBERS}"] if one.data else [])]
    if place.read(earlier).pages.get(one.name) != key:
        return False
    if not all((earlier / name).is_file() for name in files):
        return False
    for name in files:
        shutil.copyfile(earlier / name, output / name)
    return True


def _write_trials(
    pages: list[Page],
    found: list[Export],
    results: Path,
    output: Path,
    earlier: Path,
    made_of: dict[str, str],
) -> dict[str, str]:
    """Write the page of the trials of each run of an experiment with pages; return their keys.

    The key is that of the experiment's own page, which is made of every run of the experiment.
    """
    (output / links.FOLDER).mkdir()
    shown = {one.experiment for one in pages if one.experiment}
    known, made = place.read(earlier).pages, {}
    stale = []
    for one in (one for one in found if one.experiment in shown):
        name = f"{links.FOLDER}/{one.run_id}"
        made[name] = made_of[one.experiment]
        file = f"{name}.html"
        if known.get(name) == made[name] and (earlier / file).is_file():
            shutil.copyfile(earlier / file, output / file)
        else:
            stale.append(one)
    if stale:
        with database.open(results, read_only=True) as connection:
            for one in stale:
                run = Run(results, one.run_id, connection)
                about = replace(colophon.of(run), report=f"../{one.experiment}.html")
                files = output / DATA / one.experiment / one.run_id
                navigation = index.navigation(one.experiment, "../")
                text = trials.render(run, files, output / links.FOLDER, navigation, about)
                (output / links.FOLDER / f"{one.run_id}.html").write_text(text, encoding="utf-8")
    return made


def _write_script(earlier: Path, output: Path, *, fresh: bool) -> None:
    """Write the code for charts, which takes a second to make; keep that of the earlier site if a page was kept."""
    if not fresh and (earlier / SCRIPT).is_file():
        shutil.copyfile(earlier / SCRIPT, output / SCRIPT)
    else:
        (output / SCRIPT).write_text(script(page.bundle()), encoding="utf-8")


def environment(root: Path, results: Path, one: Page, output: Path) -> dict[str, str]:
    """Return the environment variables that name the checkout, the results, the run of a page and its data."""
    found = {
        checkout.PROJECT_VARIABLE if checkout.is_apart() else checkout.ROOT_VARIABLE: str(root.resolve()),
        RESULTS_VARIABLE: str(results.resolve()),
        RUN_VARIABLE: one.run_id or "",
    }
    if one.run_id is None:
        return found
    files = output / DATA / one.experiment / one.run_id
    found[links.VARIABLE] = f"{links.FOLDER}/{one.run_id}.html"
    return found | data.environment(output / index.data_page(one.experiment), files / NUMBERS, files)


def colophons(pages: list[Page], results: Path) -> dict[str, Colophon]:
    """Return page → what its foot says; a page about all runs has the date of the latest."""
    with database.open(results, read_only=True) as connection:
        runs = {
            name: colophon.of(Recording(results, name, connection))
            for name in {one.run_id for one in pages}
            if name
        }
    latest = max((one.date for one in runs.values()), default="")
    found = {}
    for one in pages:
        if one.run_id is None:
            title = one.title or notebook.read(one.source).title
            found[one.name] = Colophon(title, f"benchbook-{one.name}", latest)
        elif one.data:
            found[one.name] = replace(runs[one.run_id], title=one.title, report=f"{one.experiment}.html")
        else:
            found[one.name] = replace(runs[one.run_id], data=index.data_page(one.experiment))
    return found


def _render(
    root: Path,
    pages: list[Page],
    stale: list[Page],
    results: Path,
    output: Path,
    program: str | None,
    note: Callable[[str], None],
) -> None:
    """Write the stale pages, in as many processes as there are cores; the pages of one run share one."""
    feet = colophons(pages, results) if stale else {}
    shares = _shares(stale, min(MOST_PROCESSES, os.cpu_count() or 1), lambda one: _size(results, one))

    def rendered(share: list[list[Page]]) -> None:
        works = [
            Work([notebook.read(one.source, one.title) for one in held], environment(root, results, held[0], output))
            for held in share
        ]  # fmt: skip
        names = {id(work): [one.name for one in held] for work, held in zip(works, share, strict=True)}
        texts = render.executed(
            works, _cells(root), program, lambda work: note(f"rendered {', '.join(names[id(work)])}")
        )  # fmt: skip
        documents = [document for work in works for document in work.documents]
        for one, document, text in zip(itertools.chain(*share), documents, texts, strict=True):
            made = page.render(document, "", index.navigation(one.name), SCRIPT, feet[one.name], text)
            (output / f"{one.name}.html").write_text(made, encoding="utf-8")

    with ThreadPoolExecutor(max_workers=max(len(shares), 1)) as pool:
        for done in [pool.submit(rendered, share) for share in shares]:
            done.result()


def _cells(root: Path) -> Path:
    """Return the folder in which the cells of pages are executed."""
    own = root / render.PAGES
    return (own if own.is_dir() else checkout.built_in() / render.PAGES).resolve()


def _shares(pages: list[Page], most: int, size: Callable[[Page], int]) -> list[list[list[Page]]]:
    """Distribute pages over at most ``most`` processes of about equal work: process → runs → pages of the run.

    The pages about all runs come last, because their process has then read some of the runs.
    """
    groups: dict[str | None, list[Page]] = {}
    for one in pages:
        groups.setdefault(one.run_id, []).append(one)
    held = sorted(groups.values(), key=lambda group: (group[0].run_id is None, -size(group[0])))
    shares: list[list[list[Page]]] = [[] for _ in range(min(most, len(held)))]
    for group in held:
        min(shares, key=lambda share: sum(size(part[0]) for part in share)).append(group)
    return shares


def _size(results: Path, one: Page) -> int:
    """Return the bytes of a run's folder, by which the pages of runs differ in work."""
    if one.run_id is None:
        return 0
    return sum(path.stat().st_size for path in (results / "runs" / one.run_id).rglob("*") if path.is_file())


def script(code: str) -> str:
    """Return the code for charts, and the calls that draw them, as one classic script."""
    return f"(async () => {{\n{code}\n{page.part('charts.js')}}})();\n"
