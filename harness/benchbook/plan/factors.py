"""Determine the levels of every factor of a run: declared, replaced by the profile, replaced by ``--set``."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.dataset import Dataset
from benchbook.declare.experiment import LIMIT_FACTORS, PLACE_FACTORS, Experiment, Profile, limits
from benchbook.declare.level import Setting
from benchbook.declare.storage import OPTIONS, Storage
from benchbook.declare.system import SOURCE_NAMES
from benchbook.declare.toml import Model
from benchbook.declare.workload import workload
from benchbook.errors import RequestError, command, unknown

Factors = dict[str, list[Setting]]

AA = "aa"
"""Factor of an A/A run: its two labels change nothing, so that a system is compared with itself."""
AA_LABELS = ("A", "B")

SOURCE = "source"
"""Factor that names the source of systems (host, docker, …); without it, the first source that has them."""
BUILD = "build"
"""Factor of a gate that compares two programs of one system: it names the side whose program a trial starts."""
FROM = " from "
"""Separates a system from its source or build in the name of a program."""

_DEFAULTS: Factors = {"arm": ["vanilla"], "storage": ["local"]}


def parse_set(texts: list[str]) -> dict[str, list[str]]:
    """Parse ``--set factor=a,b`` texts as factor → levels; raise RequestError for a malformed one."""
    chosen: dict[str, list[str]] = {}
    for text in texts:
        name, equals, levels = text.partition("=")
        values = [level.strip() for level in levels.split(",")]
        if not equals or not name.strip() or not all(values):
            raise RequestError(
                f"--set {text}: expected FACTOR=LEVEL or FACTOR=LEVEL,LEVEL.",
                "For example: --set system=duckdb,sqlite",
            )
        if name.strip() in chosen:
            raise RequestError(
                f"--set {text}: the factor {name.strip()} is set twice.",
                f"Write all its levels once, with commas: --set {name.strip()}=a,b",
            )
        if len(set(values)) < len(values):
            raise RequestError(
                f"--set {text}: a level is given twice.",
                f"Remove one of them. To compare a system with itself, use `{command('aa EXPERIMENT')}`.",
            )
        chosen[name.strip()] = values
    return chosen


def factors(
    experiment: Experiment,
    profile: Profile,
    chosen: dict[str, list[str]],
    dataset: Dataset,
    catalogue: Catalogue,
) -> Factors:
    """Return every factor with its levels, typed and checked, system first.

    Raise RequestError for an unknown factor or level, or an invalid value of an option.
    """
    merged: Factors = {**_DEFAULTS, **experiment.factors, **profile.factors}
    arms = _arm_factors({**merged, **chosen}, catalogue)
    places: Sequence[Setting] = chosen.get("storage") or merged["storage"]
    storages = [catalogue.storage(str(name)) for name in places]
    known = sorted({*_known(experiment, dataset), *arms, *_storage_factors(storages)})
    for name in (*merged, *chosen):
        if name not in known:
            raise unknown("factor", name, known, "--set" if name in chosen else "experiment.toml")
    for name, texts in chosen.items():
        merged[name] = [_typed(experiment, dataset, storages, name, text, arms.get(name)) for text in texts]
        if len(set(merged[name])) < len(texts):
            raise RequestError(
                f"--set {name}={','.join(texts)}: two of the levels are the same value.",
                "Remove one of them.",
            )
    for name, levels in merged.items():
        try:
            _check_levels(experiment, dataset, storages, catalogue, name, levels)
        except RequestError as error:
            if name in PLACE_FACTORS:
                raise
            origin = f"--set {name}" if name in chosen else f"experiment.toml, factors.{name}"
            raise RequestError(f"{origin}: {error.message}", error.hint) from None
    for source in merged.get(SOURCE, []):
        if source not in SOURCE_NAMES:
            raise unknown("source", str(source), SOURCE_NAMES, f"--set {SOURCE}")
    pairs: list[dict[str, Setting]] = [
        {"system": system, "arm": arm} for system in merged["system"] for arm in merged["arm"]
    ]
    pairs = [pair for pair in pairs if not experiment.leaves_out(pair, profile, chosen)]
    _check_arms(pairs, catalogue, [name for name in merged if name in arms])
    first = (*PLACE_FACTORS, *([SOURCE] if SOURCE in merged else []))
    order = (*first, *(name for name in merged if name not in first))
    return {name: merged[name] for name in order}


def _known(experiment: Experiment, dataset: Dataset) -> list[str]:
    options = [
        name
        for phase in experiment.phases
        for name in workload(phase.workload).options.model_fields
        if name != "type"
    ]
    parameters = list(dataset.model.model_fields)
    return sorted({*PLACE_FACTORS, *LIMIT_FACTORS, SOURCE, *options, *parameters})


def _storage_factors(storages: list[Storage]) -> list[str]:
    """Return the options of the chosen storages, which can be factors; they affect no other storage."""
    return sorted({name for one in storages for name in OPTIONS[one.driver].model_fields})


def _arm_factors(levels: Mapping[str, Sequence[Setting]], catalogue: Catalogue) -> Factors:
    """Return the factors that arms of the chosen systems define, each with its declared levels."""
    found: Factors = {}
    for name in levels["system"]:
        for arm, declared in catalogue.system(str(name)).arms.items():
            if arm in levels["arm"]:
                for factor, key in declared.factors.items():
                    found.setdefault(factor, []).append(declared.settings[key])
    return found


def _typed(
    experiment: Experiment,
    dataset: Dataset,
    storages: list[Storage],
    name: str,
    text: str,
    declared: list[Setting] | None,
) -> Setting:
    """Convert a level from text to the type of its option, parameter or arm's setting."""
    if declared and type(declared[0]) is int:
        return _whole(name, text)
    if name == "cpu_limit":
        with contextlib.suppress(ValueError):
            return float(text)
    if name in ("core", "environment_bytes") and text.isdecimal():
        return int(text)
    models: list[type[Model]] = [workload(phase.workload).options for phase in experiment.phases]
    models += [OPTIONS[storage.driver] for storage in storages]
    for model in (*models, dataset.model):
        field = model.model_fields.get(name)
        if field is None:
            continue
        if field.annotation is bool and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if field.annotation is int:
            return _whole(name, text)
    return text


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise RequestError(
            f'--set {name}={text}: "{text}" is not a whole number.', f"Write, for example, --set {name}=10."
        ) from None


def _check_levels(
    experiment: Experiment,
    dataset: Dataset,
    storages: list[Storage],
    catalogue: Catalogue,
    name: str,
    levels: Sequence[Setting],
) -> None:
    for level in levels:
        for storage in storages if name in _storage_factors(storages) else ():
            storage.typed({name: level})
        _check_level(experiment, dataset, catalogue, name, level)


def _check_level(
    experiment: Experiment, dataset: Dataset, catalogue: Catalogue, name: str, level: Setting
) -> None:
    if name == "system":
        catalogue.system(str(level))
    elif name == "storage":
        catalogue.storage(str(level))
    elif name in LIMIT_FACTORS:
        try:
            limits({name: level})
        except ValueError as error:
            raise RequestError(f"{error}.") from None
    elif name in dataset.model.model_fields:
        dataset.replaced({name: level})
    elif name not in ("arm", SOURCE):
        for phase in experiment.phases:
            if phase.accepts(name):
                phase.replaced({name: level})


def _check_arms(pairs: list[dict[str, Setting]], catalogue: Catalogue, varied: list[str]) -> None:
    """Check that each system has its arm, and the arm the varied factors; otherwise cells would not be comparable."""
    for pair in pairs:
        system, arm = catalogue.system(str(pair["system"])), str(pair["arm"])
        if arm not in system.arms:
            raise unknown("arm", arm, system.arms, f"systems/{system.name}.toml")
        for factor in varied:
            if factor not in system.arms[arm].factors:
                raise RequestError(
                    f"The configuration (arm) {arm} in systems/{system.name}.toml has no factor {factor}.",
                    "Leave the factor out, or use --set to choose only systems and arms that have it.",
                )
