"""The levels of every factor of a run: declared, replaced by the profile, replaced by ``--set``."""

from __future__ import annotations

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.dataset import GENERATORS, Dataset
from benchbook.declare.experiment import PLACE_FACTORS, Experiment, Profile
from benchbook.declare.model import Setting
from benchbook.declare.workload import WORKLOADS
from benchbook.errors import RequestError, unknown

Factors = dict[str, list[Setting]]

AA = "aa"
"""Factor of an A/A run: its two labels change nothing, so that a system is measured against itself."""
AA_LABELS = ("A", "B")

_DEFAULTS: Factors = {"arm": ["vanilla"], "storage": ["local"]}


def parse_set(texts: list[str]) -> dict[str, list[str]]:
    """Return ``--set factor=a,b`` texts as factor → levels; raise RequestError where one is malformed."""
    chosen: dict[str, list[str]] = {}
    for text in texts:
        name, equals, levels = text.partition("=")
        values = [level.strip() for level in levels.split(",")]
        if not equals or not name.strip() or not all(values):
            raise RequestError(f"--set {text}: is not of the form factor=level or factor=level,level.")
        if name.strip() in chosen:
            raise RequestError(
                f"--set {text}: the factor {name.strip()} is set twice.", "Join its levels by commas."
            )
        if len(set(values)) < len(values):
            raise RequestError(
                f"--set {text}: a level is given twice.", "Use `bench aa` to compare a system with itself."
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

    Raises RequestError for an unknown factor or level, or a value that an option does not take.
    """
    merged: Factors = {**_DEFAULTS, **experiment.factors, **profile.factors}
    known = _known(experiment, dataset)
    for name in (*merged, *chosen):
        if name not in known:
            raise unknown("factor", name, known, "--set" if name in chosen else "experiment.toml")
    for name, texts in chosen.items():
        merged[name] = [_typed(experiment, dataset, name, text) for text in texts]
        if len(set(merged[name])) < len(texts):
            raise RequestError(f"--set {name}={','.join(texts)}: two levels are the same value.")
    for name, levels in merged.items():
        for level in levels:
            _check_level(experiment, dataset, catalogue, name, level)
    _check_arms(merged, catalogue)
    order = (*PLACE_FACTORS, *(name for name in merged if name not in PLACE_FACTORS))
    return {name: merged[name] for name in order}


def _known(experiment: Experiment, dataset: Dataset) -> list[str]:
    options = [
        name
        for phase in experiment.phases
        for name in WORKLOADS[phase.workload].model_fields
        if name != "type"
    ]
    parameters = list(GENERATORS[dataset.generator].model_fields)
    return sorted({*PLACE_FACTORS, *options, *parameters})


def _typed(experiment: Experiment, dataset: Dataset, name: str, text: str) -> Setting:
    """Return a level given as text in the type its option or parameter has."""
    models = [WORKLOADS[phase.workload] for phase in experiment.phases]
    for model in (*models, GENERATORS[dataset.generator]):
        field = model.model_fields.get(name)
        if field is None:
            continue
        if field.annotation is bool and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if field.annotation is int:
            try:
                return int(text)
            except ValueError:
                raise RequestError(f'--set {name}={text}: "{text}" is not a whole number.') from None
    return text


def _check_level(
    experiment: Experiment, dataset: Dataset, catalogue: Catalogue, name: str, level: Setting
) -> None:
    if name == "system":
        catalogue.system(str(level))
    elif name == "storage":
        catalogue.storage(str(level))
    elif name in GENERATORS[dataset.generator].model_fields:
        dataset.replaced({name: level})
    elif name != "arm":
        for phase in experiment.phases:
            if phase.accepts(name):
                phase.typed({**phase.options, name: level})


def _check_arms(merged: Factors, catalogue: Catalogue) -> None:
    """Every system must have every arm: a missing cell would make two systems look compared that are not."""
    for name in merged["system"]:
        system = catalogue.system(str(name))
        for arm in merged["arm"]:
            if arm not in system.arms:
                raise unknown("arm", str(arm), system.arms, f"systems/{name}.toml")
