"""Phases that stand for several ones, such as for each question of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.declare.toml_file import load
from benchbook.declare.workload import workloads
from benchbook.errors import RequestError, unknown


def expanded(path: Path, label: str) -> dict[str, Any]:
    """Return the declaration of an experiment, unchecked, with each phase that stands for several in their place.

    A profile that names the phase means all of them.
    """
    declared = load(path, label)
    phases = declared.get("phases")
    if not isinstance(phases, list):
        return declared
    found: list[Any] = []
    made: dict[str, list[str]] = {}
    for phase in phases:
        workload = workloads().get(str(phase.get("workload"))) if isinstance(phase, dict) else None
        if workload is None or workload.several is None:
            found.append(phase)
            continue
        try:
            parts = workload.several(phase, path.parent)
        except RequestError as error:
            raise RequestError(
                f'{label}: phases "{phase.get("name")}": {error.message}', error.hint
            ) from None
        found += parts
        made[str(phase.get("name"))] = [str(part["name"]) for part in parts]
    profiles = declared.get("profiles")
    if not made or not isinstance(profiles, dict):
        return {**declared, "phases": found}
    names = [str(phase["name"]) for phase in (*phases, *found) if isinstance(phase, dict) and "name" in phase]
    for name, profile in profiles.items():
        _require_known(f'{label}: profiles "{name}"', profile, list(dict.fromkeys(names)))
    return {
        **declared,
        "phases": found,
        "profiles": {name: _named(profile, made) for name, profile in profiles.items()},
    }


def _require_known(where: str, profile: Any, names: list[str]) -> None:
    """Raise RequestError if a profile names a phase that is neither declared nor one of those it stands for."""
    for key in ("phases", "phase_options"):
        held = profile.get(key) if isinstance(profile, dict) else None
        for name in map(str, held) if isinstance(held, list | dict) else ():
            if name not in names:
                raise unknown("phase", name, names, f"{where}: {key}")


def _named(profile: Any, made: dict[str, list[str]]) -> Any:
    """Return a profile that names the phases that were made in place of the declared ones."""
    if not isinstance(profile, dict):
        return profile
    changed = dict(profile)
    if isinstance(phases := profile.get("phases"), list):
        named = [name for phase in phases for name in made.get(str(phase), [phase])]
        changed["phases"] = list(dict.fromkeys(named))
    if isinstance(options := profile.get("phase_options"), dict):
        # Options for one question add to those for all of them, and win.
        changed["phase_options"] = {}
        for phase, held in sorted(options.items(), key=lambda one: one[0] not in made):
            for name in made.get(phase, [phase]):
                before = changed["phase_options"].get(name)
                both = isinstance(before, dict) and isinstance(held, dict)
                changed["phase_options"][name] = {**before, **held} if both else held
    return changed
