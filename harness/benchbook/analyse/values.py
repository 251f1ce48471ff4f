"""Cells of a run and the values of their trials, and which trials count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from benchbook.analyse.reason import Reason, because
from benchbook.analyse.wording import label_words
from benchbook.declare.level import same

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pair = tuple[str, str]
"""Phase and metric."""
TRIAL = "trial"
"""The phase that means the whole trial."""
AA = "aa"
"""Factor of an A/A run: two labels that change nothing."""


@dataclass(frozen=True)
class Cell:
    """One combination of levels, and what became of its trials."""

    name: str
    system: str
    arm: str
    levels: dict[str, str] = field(hash=False)
    ok: int
    """Trials that count."""
    trials: int
    """Recorded trials of any status."""
    statuses: tuple[str, ...]
    """Statuses other than ok, each once."""
    reason: str | None
    """Why the first trial that does not count does not."""
    versions: tuple[str, ...]
    """Versions that the running system stated."""
    datasets: tuple[str, ...]
    """Digests of the data that its trials loaded; more than one is a mixture."""
    queries: tuple[str, ...]
    configurations: tuple[str, ...]
    title: str = ""
    """The title of its system; reports add a flag where its answers differ."""
    varying: tuple[tuple[str, str], ...] = ()
    """Its levels of the factors that vary in the run, except the system, in the order of the factors."""
    flagged: bool = False
    """True if reports flag that its answers differ."""

    @property
    def label(self) -> str:
        """Its label in charts and tables: the system's title and the levels that vary."""
        return ", ".join(filter(None, (self.title, self.setting)))

    @property
    def setting(self) -> str:
        """The levels that vary, in words; empty if none does."""
        return ", ".join(label_words(*level) for level in self.varying)

    def short(self, shared: Mapping[str, str | Sequence[str]]) -> str:
        """Return the label without the levels that all drawn cells share and that are written above them."""
        known = {label_words(factor, level) for factor, level in shared.items() if isinstance(level, str)}
        return ", ".join(part for part in self.label.split(", ") if part not in known)

    def at(self, levels: Mapping[str, str | Sequence[str]]) -> bool:
        """Return whether it has these levels, or one of several; a factor that it lacks excludes nothing."""
        return all(
            factor not in self.levels
            or self.levels[factor] in ([wanted] if isinstance(wanted, str) else wanted)
            for factor, wanted in levels.items()
        )

    def matches(self, wanted: Mapping[str, Iterable[str]]) -> bool:
        """Return whether the cell has one of the wanted levels of each factor."""
        return all(
            factor in self.levels and any(same(self.levels[factor], level) for level in levels)
            for factor, levels in wanted.items()
        )

    @property
    def size(self) -> tuple[tuple[str, str], ...]:
        """Its levels without the label of an A/A run, as a key."""
        return tuple(sorted((name, level) for name, level in self.levels.items() if name != AA))


@dataclass(frozen=True)
class Series:
    """The values of one metric in one cell."""

    by_block: dict[int, float]
    unit: str
    direction: str
    """higher, lower or none."""
    trial_ids: dict[int, str] = field(default_factory=dict)


EMPTY = Series({}, "1", "none")


@dataclass(frozen=True)
class Numbers:
    """The values of one metric in the trials that count: two arrays with an entry for each, in the order of trials."""

    places: NDArray[np.int64]
    """Rows of ``Run.ok``."""
    values: NDArray[np.float64]
    """Finite values."""
    unit: str = "1"
    direction: str = "none"

    def __len__(self) -> int:
        return len(self.places)

    def at(self, which: NDArray[np.bool_]) -> Numbers:
        """Return the entries where ``which`` is true."""
        return replace(self, places=self.places[which], values=self.values[which])


Validity = Literal["trial", "phase"]
"""Which trials count: those that are valid as a whole, or those whose phase is (``claim.validity``)."""
_COUNTED = {
    "trial": "t.status = 'ok'",
    # The phase was measured to its end, and nothing that it acknowledged is missing. Two failed checks leave a load
    # valid: a system that counts more rows than were written, and answers that were not kept. A trial that is invalid
    # without a failed check (another version, a clock that jumped) never counts.
    "phase": (
        "(t.status = 'ok' OR t.status IN ('invalid', 'failed') "
        "AND NOT EXISTS (SELECT 1 FROM checks c WHERE c.trial_id = t.trial_id AND NOT c.ok AND NOT coalesce("
        "c.kind IN ('rows', 'values', 'points') "
        "AND TRY_CAST(c.found AS DOUBLE) > TRY_CAST(c.expected AS DOUBLE) "
        "OR c.kind IN ('answers', 'timed') AND NOT EXISTS (SELECT 1 FROM phases p WHERE "
        "p.trial_id = t.trial_id AND p.phase = {phase} AND p.workload = 'query'), false)) "
        "AND (t.status = 'failed' OR EXISTS (SELECT 1 FROM checks c WHERE c.trial_id = t.trial_id AND NOT c.ok)))"
    ),
}


SATURATED = "saturated"
"""The metric that is above 0 where a phase did not reach the offered rate."""


@dataclass(frozen=True)
class Places:
    """The trials that count, in their order: what ``Numbers.places`` refers to."""

    ids: list[str]
    cells: NDArray[np.int64]
    """Places in ``Run.cells``."""
    blocks: NDArray[np.int64]
    positions: NDArray[np.int64]


@dataclass(frozen=True)
class Lost:
    """The trials of a cell that a comparison lacks."""

    trials: int
    of: int
    """Trials that were recorded, apart from skipped ones."""
    because: Reason
    """Why the first of them does not count."""

    def reason(self, cell: Cell) -> Reason:
        """Return the loss as a reason."""
        return because("trials-lost", trials=self.trials, of=self.of, setup=cell.label, because=self.because)


def counted(validity: Validity, phase: str) -> str:
    """Return the condition on a trial ``t`` that it counts; ``phase`` is the column with the phase."""
    return _COUNTED[validity].format(phase=phase)
