"""The index of experiments: each with its question, its verdicts as a picture, and the run they rest on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from benchbook.declare.catalogue import Catalogue, root
from benchbook.errors import BenchbookError
from benchbook.report.figure import Figure
from benchbook.report.markup import code, escape_html, escape_markdown
from benchbook.report.results import Run
from benchbook.report.words import Words
from benchbook.site import picture, published
from benchbook.site.outcome import outcomes


@dataclass(frozen=True)
class Experiments:
    """The experiments of a checkout, those with a published run first."""

    runs: tuple[Run, ...]
    others: tuple[tuple[str, str, str], ...]
    """(slug, title, question) of experiments without one."""

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        parts = [_shown(run) for run in self.runs]
        waiting = [
            f"<h3>{escape_html(title)}</h3><p>{escape_html(question)}</p>"
            f"<p>No run published yet. Run it: {code(f'./bench run {slug}')}</p>"
            for slug, title, question in self.others
        ]
        html = "".join([*parts, *waiting])
        plain = "\n\n".join(
            [run.info["title"] or run.info["experiment"] for run in self.runs]
            + [f"{title}: no run published yet (./bench run {slug})" for slug, title, _ in self.others]
        )
        return {"text/html": html, "text/plain": plain}


def _shown(run: Run) -> str:
    info = run.info
    slug = info["experiment"]
    drawn = picture.chart(run, f"Verdicts of {slug}")
    figure = drawn.html() if isinstance(drawn, Figure) else f"<p>{escape_html(str(drawn).strip('*'))}</p>"
    page = root() / "reports" / f"{slug}.qmd"
    title = escape_html(info["title"] or slug)
    linked = f'<a href="{escape_html(slug)}.html">{title}</a>' if page.is_file() else title
    question = escape_html(info["question"] or "")
    return f"<h3>{linked}</h3><p>{question}</p><p>{_counted(run)}</p>{figure}{_which(run)}"


def _counted(run: Run) -> str:
    counts = Counter(one.verdict for one in outcomes(run))
    words = ", ".join(f"<b>{count}</b> {escape_html(verdict)}" for verdict, count in counts.most_common())
    return f"{words or 'Nothing to judge'}."


def _which(run: Run) -> str:
    info = run.info
    when = f", {info['started_at']:%Y-%m-%d}" if info["started_at"] else ""
    host = run.facts("host")
    cpu, memory = host.get("cpu") or {}, host.get("memory") or {}
    cores = cpu.get("usable_cores", cpu.get("logical_cores"))
    size = memory.get("total_bytes")
    machine = [str(cpu["model"])] if cpu.get("model") else []
    machine += [f"{cores} cores"] if cores else []
    machine += [f"{size / 1e9:.0f} GB of memory"] if isinstance(size, int) else []
    on = f", on {escape_html(', '.join(machine))}" if machine else ""
    return (
        f'<p class="bb-note">Run {code(run.run_id)}, profile {escape_html(info["profile"])},'
        f" {run.ok.height} trials that count{when}{on}.</p>"
    )


def experiments() -> Experiments:
    """Return every experiment: with its published run, or as one that has none yet."""
    runs = published.opened(root())
    there = {run.info["experiment"] for run in runs}
    catalogue = Catalogue()
    others = []
    for slug in catalogue.names("experiment"):
        if slug in there:
            continue
        try:
            declared = catalogue.experiment(slug)
        except BenchbookError:  # the page of a site is not where a declaration is corrected
            continue
        others.append((slug, declared.title, declared.question))
    return Experiments(tuple(runs), tuple(others))


def counted() -> Words:
    """Say how many experiments have a published run."""
    found = experiments()
    total = len(found.runs) + len(found.others)
    words = f"{len(found.runs)} of {total} experiments have a published run."
    return Words(escape_markdown(words))
