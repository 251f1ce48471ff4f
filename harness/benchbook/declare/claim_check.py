"""Claims checked against the experiment that declares them: every name they use is one that exists there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchbook.declare.claim import Claim
from benchbook.declare.metric import TRIAL, metrics
from benchbook.declare.model import Setting
from benchbook.errors import meant


def check_claims(
    claims: list[Claim], factors: Mapping[str, list[Setting]], phases: Mapping[str, str]
) -> None:
    """Check claims against their experiment: factor → all levels it can have, phase → workload.

    Raises ValueError in a sentence with the nearest name.
    """
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise ValueError(f"claims: the id {claim.id} is given twice")
        seen.add(claim.id)
        place = f'claims "{claim.id}"'
        _check_metric(claim, phases, place)
        _check_levels(claim, factors, place)
        for key, factor in [
            *(("across", name) for name in claim.across),
            ("along", claim.along),
            *(("unstated", name) for name in claim.unstated),
        ]:
            if factor is not None:
                _known(factor, factors, f"{place}: {key}: factor")
        _check_systems(claim, [str(level) for level in factors["system"]], place)


def _check_metric(claim: Claim, phases: Mapping[str, str], place: str) -> None:
    _known(claim.phase, [*phases, TRIAL], f"{place}: phase")
    known = metrics(phases.get(claim.phase))
    if known is not None:
        _known(claim.metric, known, f"{place}: metric of the phase {claim.phase}")


def _check_levels(claim: Claim, factors: Mapping[str, list[Setting]], place: str) -> None:
    for key, chosen in (("of", claim.of), ("over", claim.over), ("where", claim.where)):
        for factor, level in chosen.items():
            _known(factor, factors, f"{place}: {key}: factor")
            # A system that cannot be had may be claimed about, where another stands in for it.
            known = [*factors[factor], *(claim.substitutes if factor == "system" else ())]
            for one in level if isinstance(level, list) else [level]:
                _known(str(one), [str(held) for held in known], f"{place}: {key}: level of {factor}")


def _check_systems(claim: Claim, systems: list[str], place: str) -> None:
    for key, named in (("substitutes", claim.substitutes), ("versions", claim.versions)):
        for system in named:
            _known(system, claim.systems() or systems, f"{place}: {key}: system")
    for stand_in in claim.substitutes.values():
        _known(stand_in, systems, f"{place}: substitutes: system")


def _known(name: str, allowed: Iterable[str], what: str) -> None:
    names = list(allowed)
    if name not in names:
        guess = meant(name, names)
        raise ValueError(f'{what} "{name}" is none of {", ".join(sorted(names)) or "none"}{guess}')
