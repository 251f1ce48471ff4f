"""The index: what the comparisons claimed and what their reruns found; and the navigation between pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbook.analyse import claims, grade, judgement, quantity
from benchbook.analyse.claims import Judgement
from benchbook.analyse.judgement import Holds
from benchbook.analyse.run import Run
from benchbook.analyse.wording import listing
from benchbook.declare import checkout, project
from benchbook.declare.catalogue import Catalogue, root
from benchbook.declare.defects import publications
from benchbook.declare.publication import Publication
from benchbook.errors import BenchbookError, RequestError
from benchbook.record.export import SMOKE
from benchbook.report import claim, conclusion, holding, theme
from benchbook.report.colophon import linked
from benchbook.report.conclusion import Line
from benchbook.report.render import DEFAULT
from benchbook.report.table import (
    Block,
    Details,
    Markdown,
    Table,
    code,
    displayed,
    escape_html,
    escape_markdown,
    missing,
)
from benchbook.site import copied, defects, outcome, overview, published
from benchbook.site.published import Published

FIXED = (
    ("index", "Comparisons"),
    ("methods", "Methods"),
    ("replication", "Replication"),
    ("systems", "Systems"),
    ("defects", "Known defects"),
)
"""Pages in the navigation of every page: name of the .qmd and text of the link."""
INDEX = DEFAULT.with_name("project.qmd")
"""The index of a project that has none of its own."""


@dataclass(frozen=True)
class Page:
    """One page to render."""

    name: str
    source: Path
    run_id: str | None
    """The published run that the page shows; None for a page about all runs."""
    experiment: str = ""
    title: str = ""
    """Title in place of that of the source."""
    data: bool = False
    """True for the data page of a run."""


def data_page(experiment: str) -> str:
    """Return the file name of the data page of an experiment's published run."""
    return f"{experiment}-data.html"


def pages(root: Path, published: list[Published]) -> list[Page]:
    """Return the pages of the site: the fixed ones, and two for each published run."""
    from benchbook.report import data, render

    reports = root / "reports"
    catalogue = Catalogue(*checkout.layers(root))
    made = [Page(name, source, None) for name, source in _fixed(root).items()]
    reran = sum(compares(catalogue, one) for one in published)
    made[0] = Page("index", made[0].source, None, title=_title_of_index(root, made[0].source, reran))
    for one in (one for one in published if one.experiment not in dict(FIXED)):
        slug, named = one.experiment, _title(catalogue, one.experiment)
        source = render.document(slug, reports)
        made.append(Page(slug, source, one.run_id, slug, named if source == render.DEFAULT else ""))
        made.append(Page(f"{slug}-data", data.SOURCE, one.run_id, slug, f"Data: {named}", data=True))
    twice = [name for name, number in Counter(one.name for one in made).items() if number > 1]
    if twice:
        raise RequestError(
            f'Two pages have the name "{twice[0]}": that of the experiment {twice[0]}, and the data page of'
            f" {twice[0].removesuffix('-data')}.",
            "Give one of the experiments another name.",
        )
    own = [one.source for one in made if one.source not in (render.DEFAULT, data.SOURCE)]
    copied.require_own_text(one for one in own if one.is_file())
    return made


def _fixed(root: Path) -> dict[str, Path]:
    """Return name → source of the pages that are not of one run.

    A project has its own, in place of the default ones: an index, and Benchbook's pages about methods and systems.
    """
    own = {name: root / "reports" / f"{name}.qmd" for name, _ in FIXED}
    if not checkout.is_apart():
        return own
    shared = checkout.built_in() / "reports"
    default = {"index": INDEX, **{name: shared / f"{name}.qmd" for name in ("methods", "systems")}}
    found = {name: path if path.is_file() else default.get(name, path) for name, path in own.items()}
    return {name: path for name, path in found.items() if path.is_file()}


def _title_of_index(root: Path, source: Path, reran: int) -> str:
    return title(reran) if source != INDEX else f"Experiments of {project.read(root)['name']}"


def compares(catalogue: Catalogue, one: Published | Run) -> bool:
    """Return whether a run reruns a publication; one with profile smoke only tests that everything works."""
    return one.profile != SMOKE and catalogue.publication(one.experiment) is not None


def _title(catalogue: Catalogue, experiment: str) -> str:
    try:
        return str(catalogue.unchecked("experiment", experiment).get("title") or experiment)
    except BenchbookError:  # a run of an experiment that this checkout lacks
        return experiment


NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


def title(comparisons: int) -> str:
    """Return the title of the index.

    >>> title(5)
    'Five published comparisons, rerun: what still holds?'
    """
    if not comparisons:
        return "Published comparisons, rerun: what still holds?"
    number = NUMBERS[comparisons] if comparisons < len(NUMBERS) else str(comparisons)
    return f"{number} published comparison{'s' if comparisons > 1 else ''}, rerun: what still holds?"


def navigation(page: str, above: str = "") -> str:
    """Return the navigation of a page, in which the current page is marked; ``above`` leads to the site's folder."""
    shown = _fixed(root())
    links = [
        f'<a href="{above}{name}.html"{_current(name, page)}>{escape_html(text)}</a>'
        for name, text in FIXED
        if name in shown
    ]
    return (
        f'<nav class="bb-site" aria-label="Site"><a class="bb-home" href="{above}index.html">Benchbook</a>'
        f"<span>{''.join(links)}</span></nav>"
    )


def _current(name: str, page: str) -> str:
    fixed = {one for one, _ in FIXED}
    here = name == page or (name == "index" and page not in fixed)
    return ' aria-current="page"' if here else ""


# The comparisons


@dataclass(frozen=True)
class Compared:
    """A published comparison and its rerun."""

    run: Run
    publication: Publication
    claims: Sequence[Judgement]
    """The judgements on what was published."""
    lead: Judgement | None
    """The claim that represents the comparison."""


def comparisons() -> list[Compared]:
    """Return the published runs that rerun a publication, by its year; undated ones are last."""
    catalogue = Catalogue()
    found = []
    for run in published.opened(root()):
        publication = catalogue.publication(run.experiment)
        if publication is not None and compares(catalogue, run):
            claims = outcome.published_claims(run)
            found.append(Compared(run, publication, claims, outcome.lead(run)))
    return sorted(found, key=lambda one: (one.publication.year or 9999, one.run.experiment))


def once(found: Sequence[Compared]) -> list[Judgement]:
    """Return the judgement on each published claim once, whoever repeats it (``counted_with``)."""
    catalogue, kept = Catalogue(), dict[str, Judgement]()
    for one in found:
        experiment = one.run.experiment
        declared = catalogue.claims(experiment)
        for judged in one.claims:
            own = f"{experiment}/{judged.id}"
            other = str(declared.get(judged.id, {}).get("counted_with") or own)
            name = other if "/" in other else f"{experiment}/{other}"
            if name == own or name not in kept:
                kept[name] = judged
    return list(kept.values())


SCALE = {"scaled", "levels-instead", "levels-in-place", "settings-instead"}
"""Codes of reasons that name another scale than the published one."""


def rescaled(one: Judgement) -> bool:
    """Return whether a claim was measured at another scale than published."""
    return any(why.code in SCALE for why in (*one.reasons, *one.conditions))


def summary() -> Markdown:
    """Return the number of sources, claims and questions, and how many of the claims hold."""
    found = comparisons()
    if not found:
        return missing("The sum of answers", "there is no published rerun of a comparison yet")
    every = once(found)
    sources = quantity.counted(len({one.publication.title for one in found}), "source")
    reran = quantity.counted(len(found), "comparison")
    other = sum(map(rescaled, every))
    own = [judged for one in found for judged in claims.over(one.run) if judged.own]
    said = [
        f"{reran} from {sources}, {len(every)} published claims: {_summed(every)}.",
        "How they are judged: [methods](methods.html).",
    ]
    if here := sum(grade.reading(judged).here for judged in every):
        said.append(f"{here} of these answers rest on one processor: they hold *here*.")
    if (total := sum(len(one.claims) for one in found)) > len(every):
        said.append(
            f"A claim that several comparisons rerun counts once here, and on the card of each: {total} in all."
        )
    if other:
        said.append(f"{other} of the claims were measured at another scale than published.")
    if own:
        noun = "question" if len(own) == 1 else "questions"
        said.append(f"{len(own)} {noun} of our own are counted apart: {_summed(own).replace('**', '')}.")
    return Markdown(" ".join(said))


def _summed(found: Sequence[Judgement]) -> str:
    """Return how many claims hold, and in which size; how many do not; and how many have no answer."""
    counts = outcome.groups(found)
    sizes = Counter(size for one in found if (size := grade.reading(one).size))
    parts = []
    if held := counts.get("holds"):
        known = [f"{sizes[size]} {holding.SIZES[size][0]}" for size in holding.SIZES if sizes[size]]
        unsized = held - sizes.total()
        known += [f"{unsized} without a published size"] if known and unsized else []
        parts.append(
            f"**{held}** hold{'s' if held == 1 else ''}" + (f" ({', '.join(known)})" if known else "")
        )
    for one_does, several_do, members in (
        ("does not hold", "do not hold", judgement.CONTRARY),
        ("is open", "are open", ("open",)),
        ("has no answer", "have no answer", ("out of reach here", "not comparable")),
    ):
        named = [f"{counts[one]} {holding.HOLDS[one][0]}" for one in members if one in counts]
        if number := sum(counts.get(one, 0) for one in members):
            verb = one_does if number == 1 else several_do
            parts.append(f"**{number}** {verb}" + (f" ({', '.join(named)})" if len(members) > 1 else ""))
    return listing(parts)


def answers() -> Details:
    """Return the definition of every answer, folded."""
    return holding.legend()


def picture() -> Block | Markdown:
    """Return the forest plot: the lead claim of each comparison."""
    rows = [overview.row(one.run, one.lead, one.publication) for one in comparisons() if one.lead is not None]
    if not rows:
        return missing("The picture of all comparisons", "no published run has a claim")
    counts = outcome.groups([one.lead for one in comparisons() if one.lead is not None])
    words = listing([f"{number} {holding.HOLDS[one][0]}" for one, number in counts.items()])
    return overview.figure(f"The main claim of each comparison: {words}", rows)


@dataclass(frozen=True)
class Cards:
    """HTML of the index, with plain text for readers without HTML."""

    markup: str
    plain: str

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        bundle = {"text/html": self.markup, "text/plain": self.plain}
        return displayed(bundle, lambda: "\n\n".join(map(escape_markdown, self.plain.split("\n\n"))))


def cards() -> Cards | Markdown:
    """Return a card for each comparison: who claimed what, the first findings, all answers, and a caveat."""
    found = comparisons()
    if not found:
        return missing("The list of comparisons", "there is no published rerun of a comparison yet")
    markup = "".join(_card(one) for one in found)
    plain = "\n\n".join(
        f"{one.run.info['title']}: {' '.join(held.text for held in _findings(one))}" for one in found
    )
    return Cards(f'<div class="bb-cards">{markup}</div>', plain)


ON_CARD = 2
"""Findings on a card; the page of the comparison has all."""


def _findings(one: Compared) -> list[Line]:
    """Return the findings on the first claims of a comparison, with their answers."""
    found = conclusion.leading(one.run)
    if not found and one.lead is not None:
        found = [("Found", one.lead)]
    return [
        Line(label, claim.finding(one.run, judged), claim.finding_html(one.run, judged))
        for label, judged in found[:ON_CARD]
    ]


NO_BREAK = "\N{NO-BREAK SPACE}"


def _card(one: Compared) -> str:
    publication = one.publication
    claimed = f"{publication.claimed} ({publication.title})"
    lines = [
        Line("Claimed", claimed, f"{escape_html(publication.claimed)} ({linked(publication)})"),
        *_findings(one),
    ]
    caveat = outcome.caveat(one.run, one.lead)
    rerun = f" · rerun: {escape_html(caveat)}" if caveat else ""
    rerun += f" · {machines}" if (machines := _machines(one.run)) else ""
    listed = conclusion.definitions(lines).replace(" %", f"{NO_BREAK}%")
    return (
        f'<article class="bb-card"><p class="bb-year">{publication.when.capitalize()}, '
        f"{escape_html(publication.by)}{rerun}</p>"
        f"<h3>{_linked_title(one.run)}</h3><dl>{listed}</dl>{_every(one)}</article>"
    )


def _machines(run: Run) -> str:
    """Return the number of processors with a run of the experiment, with a link to their results; empty for one."""
    number = published.processors(root(), run.experiment)
    if number < 2:
        return ""
    return f'<a href="{escape_html(run.experiment)}.html#machines">published runs on {number} processors</a>'


def strip(found: Sequence[Judgement]) -> str:
    """Return answers as HTML: a coloured square for each claim, and their number in words."""
    items = []
    for one, number in outcome.groups(found).items():
        words, meaning = holding.HOLDS[one]
        squares = f'<span class="bb-squares" aria-hidden="true">{number * _square(one)}</span>'
        items.append(f'<span title="{escape_html(meaning)}">{squares}{number} {words}</span>')
    return f'<span class="bb-strip">{"".join(items)}</span>' if items else ""


def _square(holds: Holds) -> str:
    return f'<span class="bb-square" style="--answer: {theme.answer_colour(holds)}"></span>'


def _every(one: Compared) -> str:
    """Return what differs from the publication, and all claims with their answers, folded."""
    text = one.publication.differs
    differs = f"<p>What differs from the publication: {escape_html(text)}</p>" if text else ""
    own = [held for held in claims.over(one.run) if held.own]
    found = sorted(one.claims, key=lambda held: outcome.place(grade.reading(held)))
    items = "".join(
        f"<li>{_square((said := grade.reading(held)).holds)}<div>{holding.marked(claim.answer(held), said)}"
        f"<p>{escape_html(held.asked)}</p></div></li>"
        for held in (*found, *own)
    )
    more = f" and {len(own)} question{'s' if len(own) > 1 else ''} of ours" if own else ""
    return (
        f'<details class="bb-data"><summary>All {len(found)} claims{more}: {strip(found)}</summary>'
        f'{differs}<ul class="bb-claims">{items}</ul></details>'
    )


def _linked_title(run: Run) -> str:
    slug = run.experiment
    named = escape_html(run.info["title"] or slug)
    return f'<a href="{escape_html(slug)}.html">{named}</a>'


# Defects of method that changed a result


def changes() -> Markdown:
    """Return the defects that changed a result, each with the ratio published, rerun, and rerun without the defect."""
    runs = {run.experiment: run for run in published.opened(root())}
    lines = []
    for place, one in enumerate(publications()):
        for defect in one.defects:
            run = runs.get(one.experiment)
            if defect.changed is None or run is None:
                continue
            judged = {held.id: held for held in claims.over(run)}
            publication = Catalogue().publication(one.experiment)
            first = judged.get(defect.as_published or "")
            corrected = judged.get(defect.corrected or "")
            if first is not None and corrected is not None:
                sides = outcome.names(run, first, publication)
                said = escape_markdown(
                    f"Ratio of {sides.of} to {sides.over}: published {claim.published_words(first)}; "
                    f"rerun with the published method {claim.shown(first).text}; "
                    f"with the defect corrected {claim.shown(corrected).text}."
                )
                address = f"defects.html#{defects.anchor(place)}"
                lines.append(f"1. **{escape_markdown(defect.changed)}** {said} [How we know]({address}).")
    if not lines:
        return missing("The list of defects that changed a result", "no published run measured one both ways")
    return Markdown("\n".join(lines))


# Tests of the tool, and experiments without a run


def others() -> list[Run]:
    """Return the published runs that rerun no publication."""
    catalogue = Catalogue()
    return [run for run in published.opened(root()) if not compares(catalogue, run)]


def tools() -> Cards | Markdown:
    """Return a card for each published run that reruns no publication: a test of the tool."""
    found = others()
    if not found:
        return Markdown(f"There is no published run yet. To run one: {code('./bench run quickstart')}.")
    cards = []
    for run in found:
        every = outcome.outcomes(run)
        table = Details(f"All {len(every)} comparisons", comparisons_table(every)).html() if every else ""
        machines = f"<dt>Measured on</dt><dd>{held}</dd>" if (held := _machines(run)) else ""
        cards.append(
            f'<article class="bb-card"><h3>{_linked_title(run)}</h3><dl><dt>Question</dt>'
            f"<dd>{escape_html(run.info['question'] or '')}</dd><dt>Found</dt>"
            f"<dd>{escape_html(outcome.tool_finding(run))}</dd>{machines}</dl>{table}</article>"
        )
    plain = "\n\n".join(f"{run.info['title']}: {outcome.tool_finding(run)}" for run in found)
    return Cards(f'<div class="bb-cards">{"".join(cards)}</div>', plain)


def comparisons_table(found: Sequence[outcome.Outcome]) -> Table:
    """Return a row for each comparison with the baseline of a run."""
    rows = [[f"{one.statement}: {one.verdict}", one.ratio(), one.reason] for one in found]
    return Table(["Compared", "Times as good (95 % CI)", "Why"], rows, stacked=True)


def rerun() -> Markdown:
    """Return the commands that show how to repeat a published run and render the site, and the other runs."""
    names = [run.experiment for run in published.opened(root())]
    if not names:
        return Markdown(f"To make a first run: {code('./bench run quickstart')}")
    commands = escape_html(f"./bench rerun reports/data/{names[0]}\n./bench site")
    others = f"\n\nThe others: {', '.join(map(code, names[1:]))}." if names[1:] else ""
    how = f"{code('rerun')} prints the command that repeats a published run; read it, and type it."
    return Markdown(f"{how}\n\n<pre><code>{commands}</code></pre>{others}")
