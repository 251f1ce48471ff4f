"""The recorded result of ``./bench replicate --record``: the priors of the variance between processors, and their test.

The file names the published runs that it was learned from. A test refuses it once the ledger has others.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchbook.analyse import foresight, learned
from benchbook.analyse.alike import KINDS, Kind
from benchbook.analyse.foresight import Row
from benchbook.analyse.learned import FILE
from benchbook.analyse.processors import Between
from benchbook.analyse.replication import Case
from benchbook.declare import checkout
from benchbook.record import ledger, manifest


@dataclass(frozen=True)
class Recorded:
    """What was learned, and from which runs."""

    priors: Mapping[Kind, Between]
    comparisons: Mapping[Kind, int]
    """Comparisons of one processor with the others that each prior was learned from."""
    rows: Sequence[Row]
    """How well the runs foresee each other."""
    digest: str
    """Of the manifests of ``runs``."""
    runs: Sequence[str]
    """The published runs, A/A runs included, without those that were withdrawn."""

    def text(self) -> str:
        """Return the content of the file."""
        priors = {
            kind: {**asdict(prior), "comparisons": self.comparisons[kind]}
            for kind, prior in self.priors.items()
        }
        fields = {
            "written_by": "./bench replicate --record",
            "digest": self.digest,
            "priors": priors,
            "rows": [asdict(one) for one in self.rows],
            "runs": list(self.runs),
        }
        return json.dumps(fields, indent=1) + "\n"


def of_cases(cases: Sequence[Case], root: Path) -> Recorded:
    """Learn from the cases of all published runs of a checkout."""
    found = foresight.needs(foresight.by_processor(cases))
    scales = foresight.learned(found)
    priors = {kind: Between(round(scales[kind].scale, 4)) for kind in KINDS if kind in scales}
    comparisons = {kind: sum(one.kind == kind for one in found) for kind in priors}
    return Recorded(priors, comparisons, foresight.rows(cases, found), *_evidence(root))


def read(text: str) -> Recorded:
    """Return the content of a file that ``Recorded.text`` wrote."""
    held: dict[str, Any] = json.loads(text)
    comparisons = {kind: one["comparisons"] for kind, one in held["priors"].items()}
    rows = [Row(**one) for one in held["rows"]]
    return Recorded(learned.of_rows(held["priors"]), comparisons, rows, held["digest"], held["runs"])


@functools.cache
def recorded() -> Recorded:
    """Return what this version of Benchbook has learned."""
    return read((checkout.found(FILE) or checkout.root() / FILE).read_text(encoding="utf-8"))


def is_current(found: Recorded, root: Path) -> bool:
    """Return whether a checkout still has the runs that were learned from, and no others."""
    return found.digest == _evidence(root)[0]


def removed(root: Path) -> list[str]:
    """Return the runs that were learned from, or that a commit removed, and that a checkout has no more, by name."""
    held = {path.name for place in ledger.folders(root / ledger.DATA) for path in ledger.folders(place)}
    return sorted(learned.once_published(root) - held)


def _evidence(root: Path) -> tuple[str, list[str]]:
    """Return a digest of the project's published runs that were not withdrawn, and their names."""
    digests = {}
    for place in ledger.folders(root / ledger.DATA):
        for one in ledger.entries(place)[0]:
            if one.withdrawal is None and one.export.machine is None:
                digests[one.export.run_id] = manifest.sha256(one.export.folder / manifest.FILE)
    lines = "".join(f"{name} {digests[name]}\n" for name in sorted(digests))
    return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}", sorted(digests)
