"""Differences between two runs besides the results: machine, systems, harness, data, configuration.

Reports show it before their numbers (rule 14 of docs/methods.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell

GROUPS = ("data", "queries", "configuration", "experiment", "systems", "machine", "harness")
MIXING = ("data", "queries", "configuration")
"""Groups in which a difference makes two runs different work."""

_MOVING = {
    "load", "pressure", "steal", "clock", "frequency_mhz", "available_bytes", "free_bytes", "used_bytes",
    "synced_writes_per_second", "reads_per_second",
}  # fmt: skip
"""Facts of a host that differ from minute to minute and say nothing about which machine it is."""
_HARNESS = {
    "benchbook_version": "version of Benchbook",
    "git_revision": "git revision",
    "git_dirty": "uncommitted changes",
    "source_digest": "code of the harness",
    "lock_digest": "lock of the Python packages",
    "flake_lock_digest": "lock of the flake",
    "go_sum_digest": "lock of the Go modules",
    "python": "version of Python",
    "benchload.version": "version of benchload",
    "benchload.digest": "benchload's bytes",
}


@dataclass(frozen=True)
class Difference:
    """One thing that differs."""

    group: str
    """One of GROUPS."""
    what: str
    a: str
    """As a reader meets it; ``none`` where there is nothing."""
    b: str
    opaque: bool = False
    """True if ``a`` and ``b`` are digests, which tell a reader nothing."""

    @property
    def sentence(self) -> str:
        """Say it in words, without a full stop."""
        return f"{self.what}: {self.a} in A, {self.b} in B"

    @property
    def instead(self) -> str:
        """Say it of B beside A, without a full stop."""
        return f"{self.what}: differs" if self.opaque else f"{self.what}: {self.b} in place of {self.a}"


def differences(a: Run, b: Run, matched: list[tuple[Cell, Cell]]) -> list[Difference]:
    """Return what differs between two runs, in the order of GROUPS; ``matched``: the cells to be compared."""
    found = [
        *_experiment(a, b),
        *_systems(a, b, matched),
        *_machine(a, b),
        *_harness(a, b),
        *_work(a, b, matched),
    ]
    return sorted(found, key=lambda one: GROUPS.index(one.group))


def _work(a: Run, b: Run, matched: list[tuple[Cell, Cell]]) -> list[Difference]:
    found = []
    for group, what, name in (("data", "dataset", "datasets"), ("queries", "query set", "queries")):
        digests = [
            sorted({digest for cell in side for digest in getattr(cell, name)})
            for side in ([one for one, _ in matched], [two for _, two in matched])
        ]
        if any(getattr(one, name) != getattr(two, name) for one, two in matched):
            found.append(_of_digests(group, f"digest of the {what}", *digests))
    if any(one.group == "data" for one in found):
        one, two = (run.facts("dataset") for run in (a, b))
        found += [
            Difference("data", f"{key} of the dataset", _text(one.get(key)), _text(two.get(key)))
            for key in ("name", "generator", "seed", "rows", "values", "bytes")
            if one.get(key) != two.get(key)
        ]
    for one_, two_ in matched:
        if one_.configurations != two_.configurations:
            what = f"configuration of {one_.name}"
            found.append(_of_digests("configuration", what, one_.configurations, two_.configurations))
    return found


def _experiment(a: Run, b: Run) -> list[Difference]:
    found = [
        Difference("experiment", what, str(one), str(two))
        for what, one, two in (("experiment", a.experiment, b.experiment), ("profile", a.profile, b.profile))
        if one != two
    ]
    digests = [run.info.get("experiment_digest") for run in (a, b)]
    if a.experiment == b.experiment and digests[0] != digests[1]:
        found.append(_of_digests("experiment", "experiment.toml", *([one] if one else [] for one in digests)))
    return found


def _systems(a: Run, b: Run, matched: list[tuple[Cell, Cell]]) -> list[Difference]:
    found = []
    for one, two in dict.fromkeys((one.system, two.system) for one, two in matched):
        if one != two:
            found.append(Difference("systems", "system", one, two))
        programs = [run.facts("programs").get(name) or {} for run, name in ((a, one), (b, two))]
        durable = [run.systems.get(name, {}).get("arms") for run, name in ((a, one), (b, two))]
        shown = one if one == two else f"{one} and {two}"
        for key, what in (
            ("version", "version"),
            ("source", "source"),
            ("digest", "program"),
            ("url", "address"),
        ):
            values = [held.get(key) for held in programs]
            if values[0] != values[1]:
                one_, two_ = map(_short, values)
                found.append(Difference("systems", f"{what} of {shown}", one_, two_, key == "digest"))
        if durable[0] != durable[1]:
            found.append(Difference("systems", f"declared arms of {shown}", "as they were", "changed"))
    return found


def _machine(a: Run, b: Run) -> list[Difference]:
    one, two = (
        _flat({key: value for key, value in run.facts("host").items() if key not in _MOVING})
        for run in (a, b)
    )
    found = [
        Difference(
            "machine", name.replace("_", " ").replace(".", " "), _text(one.get(name)), _text(two.get(name))
        )
        for name in dict.fromkeys((*one, *two))
        if one.get(name) != two.get(name) and name.rpartition(".")[2] not in _MOVING
    ]
    controls = [{str(held["control"]): held for held in run.fact_list("controls")} for run in (a, b)]
    for name in dict.fromkeys((*controls[0], *controls[1])):
        states = [held.get(name, {}).get("state") for held in controls]
        values = [_text(held.get(name, {}).get("found")) for held in controls]
        # A controlled value such as the load varies a little from run to run and matters in neither.
        if states[0] != states[1] or (states[0] == "not controlled" and values[0] != values[1]):
            found.append(Difference("machine", name, values[0], values[1]))
    return found


def _harness(a: Run, b: Run) -> list[Difference]:
    one, two = (_flat(run.facts("provenance")) for run in (a, b))
    found = [
        Difference(
            "harness", what, _short(one.get(name)), _short(two.get(name)), opaque=name.endswith("digest")
        )
        for name, what in _HARNESS.items()
        if one.get(name) != two.get(name)
    ]
    packages = [
        name
        for name in dict.fromkeys((*one, *two))
        if name.startswith("packages.") and one.get(name) != two.get(name)
    ]
    return found + [
        Difference(
            "harness",
            f"version of {name.removeprefix('packages.')}",
            _text(one.get(name)),
            _text(two.get(name)),
        )
        for name in packages
    ]


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            found |= _flat(inner, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = inner
    return found


def _text(value: Any) -> str:
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(value: Any) -> str:
    """Return a digest or revision by its first 12 digits."""
    text = _text(value)
    bare = text.removeprefix("sha256:")
    return bare[:12] if len(bare) >= 40 and all(digit in "0123456789abcdef" for digit in bare) else text


def _of_digests(group: str, what: str, a: Sequence[str], b: Sequence[str]) -> Difference:
    return Difference(group, what, _digests(a), _digests(b), opaque=True)


def _digests(held: Any) -> str:
    return ", ".join(_short(digest) for digest in held) or "none"
