"""The table: a line for each comparison, with its target and whether it is met."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    what: str
    ours: str
    peer: str
    """Name and number of the other tool, or that it is missing."""
    ratio: str = ""
    target: str = ""
    met: bool | None = None

    def without_target(self) -> Line:
        """Return the line without a target."""
        return replace(self, target="", met=None)


def show(lines: list[Line]) -> str:
    """Return the lines as a Markdown table."""
    words = {True: "yes", False: "**no**", None: ""}
    rows = [
        f"| {line.what} | {line.ours} | {line.peer} | {line.ratio} | {line.target} | {words[line.met]} |"
        for line in lines
    ]
    return "\n".join(
        ["| what | benchload | peer | ratio | target | met |", "|---|---|---|---|---|---|", *rows]
    )


def versus(
    what: str,
    unit: str,
    ours: float,
    peer: str,
    theirs: float | None,
    target: float,
    *,
    ratio: float | None = None,
) -> Line:
    """Return the line of a number of which more is better; ``theirs`` is None if the other tool is missing."""
    if theirs is None:
        return Line(what, f"{amount(ours)} {unit}", f"{peer} missing", "", f"≥ {target:g}x")
    times = ratio if ratio is not None else ours / theirs
    return Line(
        what,
        f"{amount(ours)} {unit}",
        f"{peer} {amount(theirs)}",
        f"{times:.2f}x",
        f"≥ {target:g}x",
        times >= target,
    )


def amount(value: float) -> str:
    """Return a number with three digits.

    >>> amount(2345678)
    '2.35 M'
    """
    for size, sign in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{sign}"
    return f"{value:.3g}"
