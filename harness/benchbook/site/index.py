"""The index of experiments with their verdicts, and the navigation between pages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.analyse import comparison, quantity, same_work
from benchbook.analyse.run import Run
from benchbook.declare.catalogue import Catalogue, root
from benchbook.errors import BenchbookError
from benchbook.report import theme as axes
from benchbook.report.charts import ratio as ratios
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, code, escape_html, escape_markdown, missing
from benchbook.site import published
from benchbook.site.published import Published

FIXED = (
    ("index", "Experiments"),
    ("methods", "Methods"),
    ("systems", "Systems"),
    ("defects", "Known defects"),
)
"""Pages in the navigation of every page: name of the .qmd and text of the link."""


@dataclass(frozen=True)
class Page:
    """One page to render."""

    name: str
    source: Path
    run_id: str | None
    """The published run that the page shows; None for a page about all runs."""


def pages(root: Path, published: list[Published]) -> list[Page]:
    """Return the pages of the site: the fixed ones, and one for each published run that has a .qmd."""
    reports = root / "reports"
    made = [Page(name, reports / f"{name}.qmd", None) for name, _ in FIXED]
    for one in published:
        source = reports / f"{one.experiment}.qmd"
        if source.is_file() and not one.against_itself:
            made.append(Page(one.experiment, source, one.run_id))
    return made


def navigation(page: str) -> str:
    """Return the navigation of a page, in which the current page is marked."""
    links = [f'<a href="{name}.html"{_current(name, page)}>{escape_html(text)}</a>' for name, text in FIXED]
    return (
        '<nav class="bb-site" aria-label="Site"><a class="bb-home" href="index.html">Benchbook</a>'
        f"<span>{''.join(links)}</span></nav>"
    )


def _current(name: str, page: str) -> str:
    fixed = {one for one, _ in FIXED}
    here = name == page or (name == "index" and page not in fixed)
    return ' aria-current="page"' if here else ""


NOT_RANKED = "not ranked"
"""Verdict on an embedded system compared with a server."""
STYLES = {
    "reproduced": ("#009E73", "circle"),
    "different size": ("#E69F00", "wedge"),
    "direction only": ("#6680FF", "triangle-up"),
    "contradicted": ("#D55E00", "cross"),
    "inconclusive": ("#8A8F98", "diamond"),
    "underspecified": ("#CC79A7", "square"),
    "substitute only": ("#CC79A7", "triangle-right"),
    "not run": ("#8A8F98", "triangle-down"),
    "better": ("#009E73", "circle"),
    "worse": ("#D55E00", "cross"),
    "no difference claimed": ("#8A8F98", "diamond"),
    NOT_RANKED: ("#CC79A7", "square"),
    "no verdict": ("#8A8F98", "triangle-down"),
}
"""Verdict → colour and shape; colour is never the only distinction."""


@dataclass(frozen=True)
class Outcome:
    """The verdict on a claim or a comparison, with its ratio and interval."""

    row: str
    """Short label: the claim's id, or phase and metric."""
    statement: str
    verdict: str
    value: float | None
    low: float | None
    high: float | None
    published: float | None
    reason: str
    axis: str = "Ratio"
    """Title of the axis of ratios."""

    def ratio(self) -> str:
        """Return the ratio with its interval as text."""
        if self.value is None:
            return quantity.MISSING
        if self.low is None or self.high is None:
            return quantity.number(self.value)
        return f"{quantity.number(self.value)} ({quantity.number(self.low)} to {quantity.number(self.high)})"


def outcomes(run: Run) -> list[Outcome]:
    """Return the verdicts on the claims of a run; without claims, on every comparison with its baseline."""
    declared = (run.facts("declared").get("experiment") or {}).get("claims") or []
    return _claims(run) if declared else _comparisons(run)


def _claims(run: Run) -> list[Outcome]:
    from benchbook.analyse import claims

    found = claims.of_run(run)
    return [
        Outcome(
            one.id,
            one.statement,
            str(one.verdict),
            one.measured,
            one.low,
            one.high,
            one.published,
            one.reason,
        )
        for one in found
    ]


def _comparisons(run: Run) -> list[Outcome]:
    base = comparison.baseline(run)
    if base is None or same_work.faults(run):
        return []
    made = []
    pairs = [
        pair
        for phase, metric in comparison.metrics(run)
        for pair in comparison.against(run, phase, metric, base)
    ]
    said = iter(comparison.verdicts([pair for pair in pairs if not comparison.mixed(run, pair)]))
    for pair in pairs:
        judged = None if comparison.mixed(run, pair) else next(said)
        better = pair.advantage
        if judged is None:
            verdict = NOT_RANKED
        elif judged.winner is not None:
            verdict = "better" if judged.winner == pair.cell.label else "worse"
        else:
            verdict = "no verdict" if pair.errors or better.low is None else "no difference claimed"
        what = f"{pair.cell.label} compared with {base.label}: {ratios.label(pair)}"
        made.append(
            Outcome(
                f"{ratios.short(pair)}, {pair.cell.label}",
                what,
                verdict,
                better.value,
                better.low,
                better.high,
                None,
                "embedded systems and servers are not ranked together" if judged is None else judged.sentence,
                f"Times as good as {base.label}: right of 1 is better",
            )
        )
    return made


ROW_HEIGHT = 44
"""Height of a row in pixels; its label is above its mark and can use the whole width of a phone."""


def chart(run: Run, title: str | None = None) -> Figure | Markdown:
    """Draw the verdicts of a run, a row for each; return a sentence if there are none."""
    name = title or f"Verdicts of {run.info['experiment']}"
    found = outcomes(run)
    if not found:
        return missing(name, "the run has no claims and no two systems with the same answers")
    drawn = [one for one in found if one.verdict != NOT_RANKED]
    if not drawn:
        return missing(name, "its systems are not ranked together")
    note = "" if len(drawn) == len(found) else "Only the table shows comparisons that are not ranked."
    return Figure(name, _draw(drawn), _alternative(drawn, name), table(found), note)


def table(found: list[Outcome]) -> Table:
    """Return a row for each outcome: statement, verdict, ratio, published ratio and reason."""
    rows = [
        [
            one.statement,
            one.verdict,
            one.ratio(),
            quantity.number(one.published) if one.published is not None else quantity.MISSING,
            one.reason,
        ]
        for one in found
    ]
    return Table(["Statement", "Verdict", "Ratio (95 % CI)", "Published", "Why"], rows)


def _draw(found: list[Outcome]) -> Any:
    import altair as alt

    rows = [
        {
            "row": one.row,
            "label": f"{one.row}: {one.verdict}" + ("" if one.value is not None else ", no ratio"),
            "verdict": one.verdict,
            "ratio": one.value,
            "low": one.low,
            "high": one.high,
            "published": one.published,
            "text": one.ratio(),
            "statement": one.statement,
        }
        for one in found
    ]
    order = list(dict.fromkeys(one.row for one in found))
    verdicts = [verdict for verdict in STYLES if any(one.verdict == verdict for one in found)]
    ends = [1.0] + [
        end for one in found for end in (one.value, one.low, one.high, one.published) if end is not None
    ]
    claims = any(one.published is not None for one in found)
    title = "Measured ratio (bar: 95 % CI; line: published)" if claims else found[0].axis
    scale, axis = axes.logarithmic(ends if len(ends) > 1 else [0.5, 1.0, 2.0], title)
    y = alt.Y("row:N", sort=None, scale=alt.Scale(domain=order, padding=0), axis=None)
    x = alt.X("ratio:Q", scale=scale, axis=axis)
    colour = alt.Color(
        "verdict:N", scale=alt.Scale(domain=verdicts, range=[STYLES[one][0] for one in verdicts])
    )
    shape = alt.Shape(
        "verdict:N", scale=alt.Scale(domain=verdicts, range=[STYLES[one][1] for one in verdicts])
    )
    tooltip = [
        alt.Tooltip("statement:N"),
        alt.Tooltip("verdict:N"),
        alt.Tooltip("text:N", title="ratio"),
    ]
    measured = [row for row in rows if row["ratio"] is not None]
    layers: list[Any] = [
        alt.Chart(alt.InlineData(values=[{"one": 1}]))
        .mark_rule(strokeDash=[4, 3], opacity=0.8)
        .encode(x=alt.X("one:Q", scale=scale, axis=axis)),
        alt.Chart(alt.InlineData(values=[row for row in measured if row["low"] is not None]))
        .mark_rule(strokeWidth=7, opacity=0.3, strokeCap="round")
        .encode(y=y, x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=colour),
        alt.Chart(alt.InlineData(values=measured))
        .mark_point(filled=True, size=85)
        .encode(y=y, x=x, color=colour, shape=shape, tooltip=tooltip),
    ]
    if claims:
        layers.append(
            alt.Chart(alt.InlineData(values=[row for row in rows if row["published"] is not None]))
            .mark_tick(thickness=2.5, size=17, color="currentColor")
            .encode(y=y, x=alt.X("published:Q", scale=scale, axis=axis))
        )
    layers.append(
        alt.Chart(alt.InlineData(values=rows))
        .mark_text(align="left", baseline="bottom", dy=-8, dx=2)
        .encode(y=y, x=alt.value(0), text="label:N", tooltip=tooltip)
    )
    return alt.layer(*layers).properties(width="container", height=ROW_HEIGHT * len(order) + 8)


def _alternative(found: list[Outcome], name: str) -> str:
    parts = [f"{one.statement}: {one.verdict}, ratio {one.ratio()}" for one in found]
    return f"{name}: {len(found)} rows. {'; '.join(parts)}."


@dataclass(frozen=True)
class Experiments:
    """The experiments of a checkout with question, verdicts and run; those with a published run come first."""

    runs: tuple[Run, ...]
    others: tuple[tuple[str, str, str], ...]
    """(slug, title, question) of experiments without a published run."""

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        parts = [_shown(run) for run in self.runs]
        waiting = [
            f"<h3>{escape_html(title)}</h3><p>{escape_html(question)}</p>"
            f"<p>There is no published run yet. To run it: {code(f'./bench run {slug}')}</p>"
            for slug, title, question in self.others
        ]
        html = "".join([*parts, *waiting])
        plain = "\n\n".join(
            [run.info["title"] or run.info["experiment"] for run in self.runs]
            + [f"{title}: no published run yet (./bench run {slug})" for slug, title, _ in self.others]
        )
        return {"text/html": html, "text/plain": plain}


def _shown(run: Run) -> str:
    info = run.info
    slug = info["experiment"]
    drawn = chart(run, f"Verdicts of {slug}")
    figure = drawn.html() if isinstance(drawn, Figure) else f"<p>{escape_html(str(drawn).strip('*'))}</p>"
    page = root() / "reports" / f"{slug}.qmd"
    title = escape_html(info["title"] or slug)
    linked = f'<a href="{escape_html(slug)}.html">{title}</a>' if page.is_file() else title
    question = escape_html(info["question"] or "")
    return f"<h3>{linked}</h3><p>{question}</p><p>{_counted(run)}</p>{figure}{_which(run)}"


def _counted(run: Run) -> str:
    counts = Counter(one.verdict for one in outcomes(run))
    verdicts = ", ".join(f"<b>{count}</b> {escape_html(verdict)}" for verdict, count in counts.most_common())
    return f"{verdicts or 'No verdicts'}."


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
        f" {run.ok.height} valid trials{when}{on}.</p>"
    )


def experiments() -> Experiments:
    """Return every experiment, with its published run if it has one."""
    runs = published.opened(root())
    there = {run.info["experiment"] for run in runs}
    catalogue = Catalogue()
    others = []
    for slug in catalogue.names("experiment"):
        if slug in there:
            continue
        try:
            declared = catalogue.experiment(slug)
        except BenchbookError:  # other commands report an invalid declaration
            continue
        others.append((slug, declared.title, declared.question))
    return Experiments(tuple(runs), tuple(others))


def published_count() -> Markdown:
    """Return a sentence with the number of experiments that have a published run."""
    found = experiments()
    total = len(found.runs) + len(found.others)
    return Markdown(escape_markdown(f"{len(found.runs)} of {total} experiments have a published run."))
