"""The rates of 2011 beside those of today, and the printed multiples that the printed rates contradict."""

from __future__ import annotations

from benchbook.analyse import quantity
from benchbook.analyse.comparison import estimates
from benchbook.analyse.run import Run
from benchbook.declare import published
from benchbook.declare.catalogue import Catalogue
from benchbook.report.table import Table

SLUG, FILE = "leveldb-2011", "leveldb-2011.csv"
METRIC = "entries_per_second"
STORES = {"leveldb": "leveldb-1.23", "kyoto-treedb": "kyoto-treedb-1.2.79", "sqlite3": "sqlite3-3.40.1"}
"""Store in the publication → system."""
TITLES = {"leveldb": "LevelDB", "kyoto-treedb": "TreeDB", "sqlite3": "SQLite"}
SECTIONS = {
    "1A": "published", "1B": "published", "1C": "published", "1D": "published", "2A": "published", "2C": "sync",
    "2D": "no-compression", "2E": "more-memory", "3A": "more-cache", "3B": "no-compression",
}  # fmt: skip
"""Section of the publication → arm."""
PHASES = {"2A": "large", "2C": "sync"}
"""Section → the first word of its phases, where that is not the operation's."""
TOLERANCE = 0.1
"""A printed multiple within this share of the ratio of the printed rates agrees with it."""


def stated() -> list[published.Row]:
    """Return the rows of the publication."""
    return published.read(Catalogue().published(SLUG), FILE)


def rates(run: Run) -> Table:
    """Return each published rate beside the typical one of this run, and the factor between them."""
    rows = []
    for row in stated():
        if row["section"] not in SECTIONS:
            continue
        kind, _, order = row["operation"].partition("-")
        phase = f"{PHASES.get(row['section'], kind)}-{order}"
        arm, system = SECTIONS[row["section"]], STORES[row["system"]]
        held = [
            one for one in estimates(run, phase, METRIC) if (one.cell.arm, one.cell.system) == (arm, system)
        ]
        then, now = float(row["value"]), next((one.value for one in held if one.value), None)
        rows.append(
            [
                f"{row['section']}, {row['setting']}", row["operation"].replace("-", ", "), TITLES[row["system"]],
                quantity.text(then, "1/s"), quantity.text(now, "1/s") if now else quantity.MISSING,
                quantity.number(now / then) if now else quantity.MISSING,
            ]
        )  # fmt: skip
    return Table(
        ["Section", "Operation", "Store", "2011", "Here", "Times"], rows,
        caption="Operations per second: as published, and the typical value of this run",
        numeric=frozenset({"2011", "Here", "Times"}),
    )  # fmt: skip


def contradictions() -> Table:
    """Return the printed multiples of the baseline that do not follow from the printed rates."""
    found = stated()
    baseline = {
        (row["operation"], row["system"]): float(row["value"])
        for row in found
        if row["setting"] == "baseline"
    }
    rows = []
    for row in found:
        if not (printed := row["stated_times_baseline"]):
            continue
        follows = float(row["value"]) / baseline[row["operation"], row["system"]]
        if abs(follows / float(printed) - 1) > TOLERANCE:
            name = f"{TITLES[row['system']]}, {row['operation']}"
            rows.append([f"{row['section']}, {row['setting']}", name, printed, quantity.number(follows)])
    return Table(
        ["Section", "Operation", "Printed", "By the printed rates"], rows,
        caption="Multiples of the baseline that the publication's own rates contradict",
        numeric=frozenset({"Printed", "By the printed rates"}),
    )  # fmt: skip
