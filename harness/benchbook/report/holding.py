"""The two answers on a claim in words, with definitions: does it hold, and how large is the difference."""

from __future__ import annotations

from benchbook.analyse.grade import Reading
from benchbook.analyse.judgement import Answer, Holds, Size
from benchbook.analyse.wording import factor_words
from benchbook.report.table import Details, Table, escape_html

HOLDS: dict[Holds, tuple[str, str]] = {
    "holds": (
        "holds",
        "The measured difference has the published direction. A published bound or equality is met in full.",
    ),
    "no difference": (
        "no difference",
        "A difference was published, and none was measured (at most 5 % in that direction; less for a small one).",
    ),
    "reversed": ("reversed", "The measured difference has the opposite direction."),
    "fails": (
        "fails",
        "A published bound is missed, a step of a trend goes back, or there is a difference where none was published.",
    ),
    "open": ("open", "The trials do not decide it: they are too few or vary too much, or they do not count."),
    "out of reach here": (
        "out of reach here",
        "The runs lack something that the claim needs, such as a system, a version, a level or a condition.",
    ),
    "not comparable": (
        "not comparable",
        "The publication omits what a rerun needs, or the answer depends on something that it omits.",
    ),
}
"""Answer to "does it hold?" → its words and its definition, in the order of pages."""
SIZES: dict[Size, tuple[str, str]] = {
    "as published": ("as published", "The ratio lies within the margin around the published one."),
    "smaller": ("smaller", "The difference is smaller than published, by more than the margin."),
    "larger": ("larger", "The difference is larger than published, by more than the margin."),
    "mixed": (
        "smaller and larger",
        "The difference is smaller than published in some cases, and larger in others.",
    ),
    "open": ("size open", "Whether the difference is as large as published is open."),
}
"""Answer to "how large?" → its words and its definition."""
IN_SENTENCE: dict[Size, str] = {
    "as published": "as published",
    "smaller": "but smaller",
    "larger": "but larger",
    "mixed": "but smaller and larger",
    "open": "with its size open",
}
"""Answer to "how large?" → its words after "holds"."""
HERE = "Here: on the processor of these runs. Another one may give another answer."
ANSWERS = "What the answers mean"
QUESTIONS = ("Does it hold?", "How large?")


def holds_words(found: Reading) -> str:
    """Return whether a claim holds."""
    said = HOLDS[found.holds][0]
    if found.factor is not None:
        return f"{said} (depends on {factor_words(found.factor)})"
    return f"{said} here" if found.here else said


def size_words(found: Reading | Answer) -> str:
    """Return how large a difference is; empty unless the claim holds and a size was published."""
    return "" if found.size is None else SIZES[found.size][0]


def words(found: Reading) -> str:
    """Return both answers.

    >>> words(Reading("holds", "smaller", here=True)), words(Reading("reversed"))
    ('holds here, smaller', 'reversed')
    """
    return ", ".join(filter(None, [holds_words(found), size_words(found)]))


def brief(holds: Holds, size: Size | None = None) -> str:
    """Return both answers within a sentence.

    >>> brief("holds", "smaller"), brief("no difference")
    ('holds but smaller', 'no difference')
    """
    return " ".join(filter(None, [HOLDS[holds][0], size and IN_SENTENCE[size]]))


def said(found: Answer | str) -> str:
    """Return the answer on a claim in words; the verdict on a comparison is its own word."""
    return brief(*found) if isinstance(found, Answer) else found


def meant(found: Reading) -> str:
    """Return what both answers mean."""
    parts = [HOLDS[found.holds][1]]
    parts += [SIZES[found.size][1]] if found.size is not None else []
    return " ".join([*parts, HERE] if found.here else parts)


def marked(text: str, found: Reading) -> str:
    """Return the words of an answer in HTML, with what they mean: beside the pointer, and below them on a tap."""
    meaning = escape_html(meant(found))
    return (
        f'<details class="bb-answer"><summary title="{meaning}">{escape_html(text)}</summary>'
        f"<span>{meaning}</span></details>"
    )


def legend() -> Details:
    """Return the definition of every answer, folded."""
    rows = [[QUESTIONS[0], *one] for one in HOLDS.values()] + [[QUESTIONS[1], *one] for one in SIZES.values()]
    return Details(
        ANSWERS, Table(["Question", "Answer", "Meaning"], [*rows, ["", "here", HERE]], stacked=True)
    )
