"""A judged claim in words: its sides, its ratio, what was published, and what the verdict means."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from benchbook.analyse import quantity
from benchbook.declare.metric import describe

if TYPE_CHECKING:
    from benchbook.analyse.claims import Judgement
    from benchbook.analyse.run import Cell, Run

OWN = "Not published:"
"""Start of the statement of a question that the publication did not ask."""
FACTORS = {
    "arm": "configuration", "size": "object size", "workers": "number in flight", "in_flight": "number in flight",
    "stocks": "number of stocks",
}  # fmt: skip
"""Factor → its name in a sentence; others only lose their underscores."""
LEVELS = {
    "arm": "configuration {}", "size": "objects of {}", "workers": "{} operations in flight",
    "in_flight": "{} reads in flight", "storage": "its files on {}", "cache": "{} caches", "stocks": "{} stocks",
    "batch_size": "batches of {}", "batch": "{} objects per transaction", "count": "{} objects",
    "clients": "{} clients",
}  # fmt: skip
"""Factor → a level of it in a sentence."""
STORAGES = {
    "local": "the local disk", "minio-s3fs": "a MinIO bucket mounted by s3fs", "tmpfs": "tmpfs",
    "loop-ext4": "a loop device", "loop-disks": "four loop devices",
}  # fmt: skip
"""Storage → its name in a sentence; others keep theirs."""
DEPENDS = "depends on "
"""Start of the reason of a claim that holds at one level and not at another."""


def factor_words(factor: str) -> str:
    """Return the name of a factor in a sentence.

    >>> factor_words("size"), factor_words("batch_size")
    ('object size', 'batch size')
    """
    return FACTORS.get(factor, factor.replace("_", " "))


def level_words(factor: str, level: str) -> str:
    """Return a level in a sentence.

    >>> level_words("batch_size", "10000"), level_words("in_flight", "published")
    ('batches of 10,000', 'reads in flight as published')
    >>> level_words("size", "20000"), level_words("size", "uniform:8000:12000"), level_words("size", "4KiB")
    ('objects of 20 kB', 'objects of 8 to 12 kB', 'objects of 4KiB')
    """
    if (factor, level) == ("arm", "vanilla"):
        return "the default configuration"
    if factor in ("in_flight", "method") and level.endswith("published"):
        return "reads in flight as published" if factor == "in_flight" else "the published method"
    if factor == "size":
        return LEVELS[factor].format(_size_words(level))
    shown = (
        f"{int(level):,}" if level.isdigit() else STORAGES.get(level, level) if factor == "storage" else level
    )
    return LEVELS.get(factor, f"{factor.replace('_', ' ')} {{}}").format(shown)


def _size_words(level: str) -> str:
    ends = level.removeprefix("uniform:").split(":")
    if not all(end.isdigit() for end in ends):
        return level
    sizes = [quantity.size(float(end)) for end in ends]
    if len(sizes) == 2 and sizes[0].partition(" ")[2] == sizes[1].partition(" ")[2]:
        sizes[0] = sizes[0].partition(" ")[0]
    return " to ".join(sizes)


def word(one: Judgement) -> str:
    """Return the verdict for readers: opposite results at levels that the publication leaves open name the factor."""
    if one.verdict == "underspecified" and one.reason.startswith(DEPENDS):
        factor = one.reason.removeprefix(DEPENDS).partition(":")[0]
        return f"{DEPENDS}{factor_words(factor)}"
    return str(one.verdict)


def meaningless(one: Judgement) -> bool:
    """Return whether a statement has no number, so that neither a ratio of ours nor a verdict says anything of it."""
    return one.verdict == "underspecified" and one.published is None and word(one) == "underspecified"


def has_ratio(one: Judgement) -> bool:
    """Return whether a ratio can be shown."""
    return bool(one.measured) and one.test != "agree" and not meaningless(one)


class Stated(NamedTuple):
    """What a publication states of a ratio."""

    text: str
    value: float | None
    """Where a chart marks it."""
    kind: str
    """``=``, ``≥`` or ``≤``."""


SIGNS = {"at-least": "≥", "at-most": "≤"}


def stated(one: Judgement) -> Stated:
    """Return the published ratio, or the bound or band that the publication's words mean."""
    expected = one.cells[0].expected if one.cells else None
    if expected is not None and one.published is None and expected.within is not None:
        low, high = expected.within
        return Stated(f"{low:.3g}-{high:.3g}", math.sqrt(low * high), "=")
    value = one.published
    bound = expected is not None and expected.kind in SIGNS  # a trend may be judged by its direction alone
    if (value is None or bound) and expected is not None and one.verdict != "underspecified":
        value = 1.0 if expected.kind == "equal" else expected.value
    kind = SIGNS.get(expected.kind if expected is not None else one.test, "=")
    if value is None:
        return Stated(quantity.MISSING, None, kind)
    return Stated(f"{kind} {quantity.number(value)}" if kind != "=" else quantity.number(value), value, kind)


def interval(low: float | None, high: float | None) -> str:
    """Return an interval without its name; empty without one.

    >>> interval(1.039, 1.28), interval(None, None)
    ('1.04-1.28', '')
    """
    if low is None or high is None:
        return ""
    return f"{quantity.number(low)}-{quantity.number(high)}"


def interval_name(found: Sequence[Judgement]) -> str:
    """Return what the intervals of some claims are: a run that was judged after each block has wider ones."""
    levels = {one.level for one in found}
    if len(levels) == 1:
        return f"{100 * (1 - levels.pop()):.3g} % CI"
    return "CI, whose level is above 95 % because the claims were judged after each block"


def ratio_text(value: float | None, low: float | None, high: float | None) -> str:
    """Return a ratio with its interval."""
    around = interval(low, high)
    return quantity.number(value) + (f" ({around})" if around else "")


# The finding: who, what, by how much, what was published, and what it means.

VERBS = (
    (r".*rows_per_second_acknowledged", "had {} times as many acknowledged rows per second as"),
    (r".*rows_per_second", "loaded {} times as many rows per second as"),
    (r".*values_per_second.*", "loaded {} times as many values per second as"),
    (r"(queries|operations)_per_second", "reached {} times as many \\1 per second as"),
    (r"bytes_per_second", "moved {} times as many bytes per second as"),
    (r".*_seconds", "took {} times as long as"),
)  # fmt: skip
"""Pattern of a metric → what the better side did; other metrics are named by their title."""


DONE = {"put": "put", "get": "got", "delete": "deleted"}
"""First word of a phase of objects → what was done."""


def _finding(one: Judgement, of: str, over: str) -> str:
    """Return what was measured of both sides; ``over`` begins with "with" if both are one system."""
    ratio, phase = quantity.number(one.measured), one.phase
    if one.metric == "objects_per_second":
        return f"{of} {DONE.get(phase.partition('-')[0], 'handled')} {ratio} times as many objects per second as {over}"
    if one.metric == "reads_per_second":
        return f"{of} answered {ratio} times as many {phase} reads per second as {over}"
    for pattern, verb in VERBS:
        if found := re.fullmatch(pattern, one.metric):
            return f"{of} {found.expand(verb).format(ratio)} {over}"
    if one.metric == "latency_mean" and phase not in ("trial", "load"):
        than = over if over.startswith("with ") else f"with {over}"
        return f"in phase {phase}, an operation took {ratio} times as long with {of} as {than}"
    title = describe(one.metric).title
    title = title[0].lower() + title[1:]
    where = "" if phase in ("trial", "load") else f" in phase {phase}"
    was, that = ("were", "those") if title.partition(" ")[0].endswith("s") else ("was", "that")
    of_over = over if over.startswith("with ") else f"of {over}"
    return f"the {title}{where} of {of} {was} {ratio} times {that} {of_over}"


def _sides(run: Run, one: Judgement) -> tuple[str, str]:
    """Return the two sides in words, ``of`` first: systems, or levels of one system."""
    over, of = one.cells[0].sides.cells[0], one.cells[0].sides.cells[-1]
    factors = one.cells[0].sides.factors
    if "system" in factors:
        rest = [name for name in factors if name not in ("system", "arm")]
        return tuple(_named(run.title(cell.system), _levels(cell, rest)) for cell in (of, over))  # type: ignore[return-value]
    return f"{run.title(of.system)} with {_levels(of, factors)}", f"with {_levels(over, factors)}"


def _levels(cell: Cell, factors: Sequence[str]) -> str:
    return ", ".join(level_words(name, cell.levels[name]) for name in factors if name in cell.levels)


def _named(title: str, levels: str) -> str:
    return f"{title} with {levels}" if levels else title


def shared_levels(run: Run, one: Judgement) -> list[str]:
    """Return the levels that all cases of a claim have in words, of the factors that vary in the run."""
    varying = {name for cell in run.cells for name, _ in cell.varying}
    whole = [cell for held in one.cells for cell in held.sides.cells]
    alike = {
        name: whole[0].levels[name]
        for name in whole[0].levels
        if name in varying
        and len({cell.levels.get(name) for cell in whole}) == 1
        and name not in ("storage", "count")
    }
    return [level_words(name, level) for name, level in alike.items() if name != "system"]


def sentence(run: Run, one: Judgement) -> str:
    """Return the finding on a measured claim, as plain text."""
    of, over = _sides(run, one)
    cases = f", over {len(one.cells)} cases" if len(one.cells) > 1 else ""
    around = interval(one.low, one.high)
    around = (
        f" ({interval_name([one])} {around}{cases})" if around else f" (no interval: too few trials{cases})"
    )
    where = shared_levels(run, one)
    at = f"With {where[0]}, " if len(where) == 1 else ""
    setting = f" Both sides had {', '.join(where)}." if len(where) > 1 else ""
    found = f"{at}{_finding(one, of, over)}"
    return f"{found[0].upper()}{found[1:]}{around}; {_published(one)}.{setting}"


def _published(one: Judgement) -> str:
    found = stated(one)
    if one.statement.startswith(OWN):
        return "the publication did not measure this"
    if found.value is None:
        return "no number was published"
    if found.kind == "=":
        words = one.published is None and one.cells[0].expected.within is not None
        return (
            f"the publication's words mean {found.text}" if words else f"the published ratio is {found.text}"
        )
    if found.value == 1:
        return f"the publication claims a ratio {'above' if found.kind == '≥' else 'below'} 1"
    return f"the published ratio is {'at least' if found.kind == '≥' else 'at most'} {quantity.number(found.value)}"


def meaning(one: Judgement) -> str:
    """Return what the verdict means, in one sentence."""
    what = "The expected result" if one.statement.startswith(OWN) else "The published result"
    if word(one).startswith(DEPENDS):
        return f"The answer {word(one)}, which the publication does not state."
    if failed := sum(cell.failed for cell in one.cells):
        operations = "operation" if failed == 1 else "operations"
        return f"{failed:,} {operations} failed, so neither side is called better."
    others = {str(cell.verdict) for cell in one.cells} - {str(one.verdict)}
    if len(one.cells) > 1 and others and one.verdict in ("different size", "contradicted"):
        where = {"all": "every case", "most": "most cases", "any": "any case"}[one.in_cells]
        return f"{what} does not hold in {where}: {_counted_cases(one)}."
    return {
        "reproduced": f"{what} holds here.",
        "different size": _different(one),
        "direction only": "The direction is as published; the ratio is uncertain.",
        "contradicted": f"{what} does not hold here.",
        "inconclusive": _undecided(one, what),
        "underspecified": "The publication says too little to check it.",
        "substitute only": "A substitute was measured, so the claim itself is not judged.",
        "not run": "This run did not measure it.",
    }[str(one.verdict)]


def _undecided(one: Judgement, what: str) -> str:
    """Return why there is no verdict: how many cases show what, or the one interval that is too wide."""
    if len(one.cells) > 1:
        why = _counted_cases(one)
    else:
        why = (
            "the case decides nothing"
            if any(cell.unfit for cell in one.cells)
            else "the interval is too wide"
        )
    return f"{what} is neither confirmed nor refuted: {why}."


def _counted_cases(one: Judgement) -> str:
    """Return how many cases have which verdict."""
    counted = Counter("without a result" if cell.unfit else str(cell.verdict) for cell in one.cells)
    return f"of {len(one.cells)} cases, " + ", ".join(
        f"{held} {word}" for word, held in counted.most_common()
    )


def _different(one: Judgement) -> str:
    value = stated(one).value
    if value == 1:
        return "There is a difference where none was published."
    if value is not None and ((one.low or 0.0) > 1 if value > 1 else (one.high or math.inf) < 1):
        return "The direction is as published, but the ratio is not."
    return "The ratio is not as published, and the direction is uncertain."


def spread(one: Judgement) -> str:
    """Return on what the ratio depends, if the intervals of two cases do not overlap; else empty."""
    cells = [cell for cell in one.cells if cell.measured and cell.low is not None and cell.high is not None]
    if len(cells) < 2:
        return ""
    least, most = (pick(cells, key=lambda cell: cell.measured or 0.0) for pick in (min, max))
    if (least.high or 0.0) >= (most.low or 0.0):
        return ""
    factors = [
        name for name in least.sides.levels
        if len({cell.sides.levels.get(name) for cell in cells}) > 1
    ]  # fmt: skip
    on = " and the ".join(factor_words(name) for name in factors) or "case"
    (low, at_low), (high, at_high) = (
        (
            ratio_text(cell.measured, cell.low, cell.high),
            case(cell.sides.levels, factors),
        )
        for cell in (least, most)
    )
    return f"The ratio depends on the {on}: from {low} at {at_low} to {high} at {at_high}."


def case(levels: Mapping[str, str], factors: Sequence[str]) -> str:
    """Return some levels of a case in words; the number of objects follows their size, so it is left out."""
    factors = [name for name in factors if name != "count" or "size" not in factors]
    return ", ".join(level_words(name, levels[name]) for name in factors if name in levels) or "its only case"


def caveats(one: Judgement) -> list[str]:
    """Return what a reader must know beside the ratio: scale, substitutes, cases that decide nothing, one device."""
    found = [f"measured at {', '.join(one.conditions)}".replace("_", " ")] if one.conditions else []
    found += [part for part in one.reason.split("; ") if " is in place of " in part]
    unfit = [cell.unfit for cell in one.cells if cell.unfit]
    if unfit:
        some = f"{len(unfit)} of {len(one.cells)} cases {'decides' if len(unfit) == 1 else 'decide'} nothing"
        found.append(f"{some if len(unfit) < len(one.cells) else 'decides nothing'} ({_lost(unfit[0])})")
    found += [note for note in one.notes if "on one device" in note]
    return found


def _lost(unfit: str) -> str:
    """Return in short why a case decides nothing; the reasons of the verdict have the details."""
    if " not count (" in unfit:
        return "some of its trials do not count"
    return "a phase under 1 s" if "one under 1 s decides nothing" in unfit else unfit


UNITS = {"1/s": 1.0, "op/s": 1.0, "s": 1.0, "ms": 1e-3, "B": 1.0, "B/s": 1.0, "MiB/s": 2.0**20}
"""Unit of a published value → the factor to the unit of its metric."""


def published_values(run: Run, ids: Sequence[str]) -> list[tuple[Cell, float]]:
    """Return the published value of each side of some claims, with our cell, in the unit of the claim's metric."""
    from benchbook.analyse import claims

    if not ids or run.against_itself or not run.declared.get("claims"):
        return []
    found: dict[str, tuple[Cell, float]] = {}
    for one in claims.of_run(run):
        for held in one.cells if one.id in ids else ():
            factor = UNITS.get((held.unit or "").partition(" (")[0])
            for cell, value in (
                (held.sides.cells[0], held.published_over),
                (held.sides.cells[-1], held.published_of),
            ):
                if factor and value:
                    found[cell.name] = (cell, value * factor)
    return list(found.values())
