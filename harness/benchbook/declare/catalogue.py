"""Catalogue of the declarations of a project and of Benchbook: find them, read them by name, export their schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from benchbook.declare import checkout, project
from benchbook.declare.toml_file import load
from benchbook.errors import RequestError, suggestion, unknown

# Functions import the models they use: pydantic takes half a second to load, and finding names needs no model.
if TYPE_CHECKING:
    from benchbook.declare.dataset import Dataset
    from benchbook.declare.experiment import Experiment
    from benchbook.declare.publication import Publication
    from benchbook.declare.storage import Storage
    from benchbook.declare.system import System
    from benchbook.declare.toml import Model

M = TypeVar("M", bound="Model")

root = checkout.root


class Catalogue:
    """The declarations of all layers, each read on demand, so that one bad file does not affect the others."""

    def __init__(self, *layers: Path) -> None:
        self.layers = layers or checkout.layers()

    def names(self, kind: str) -> list[str]:
        """Return the names of a kind: ``system``, ``storage``, ``dataset`` or ``experiment``."""
        return sorted(self._files(kind))

    def path(self, kind: str, name: str) -> Path:
        """Return the file that declares ``name``; raise RequestError with the nearest name if it does not exist."""
        files = self._files(kind)
        if name not in files:
            lacks = unknown(kind, name, files)
            if len(self.layers) == 1 and checkout.is_installed():
                lacks.hint = f"{lacks.hint} You are in no project: for a name of yours, go to its folder."
            raise lacks
        return files[name]

    def layer(self, kind: str, name: str) -> Path:
        """Return the folder of the layer that declares ``name``."""
        path = self.path(kind, name)
        return next(layer for layer in self.layers if path.is_relative_to(layer))

    def _files(self, kind: str) -> dict[str, Path]:
        """Return name → file; the first layer that has a name counts."""
        if kind == "experiment":
            found = checkout.experiments(self.layers)
            return {name: folder / "experiment.toml" for name, folder in found.items()}
        files = [path for layer in reversed(self.layers) for path in layer.glob(project.KINDS[kind])]
        return {path.stem: path for path in files}

    def unchecked(self, kind: str, name: str) -> dict[str, Any]:
        """Return a declaration as plain values, unchecked; raise RequestError for malformed TOML."""
        path = self.path(kind, name)
        return load(path, self.label(path))

    def system(self, name: str) -> System:
        """Return a system by name."""
        from benchbook.declare.system import System

        return self._named("system", name, System)

    def storage(self, name: str) -> Storage:
        """Return a storage by name."""
        from benchbook.declare.storage import Storage

        return self._named("storage", name, Storage)

    def dataset(self, name: str) -> Dataset:
        """Return a dataset by name."""
        from benchbook.declare.dataset import Dataset

        return self._named("dataset", name, Dataset)

    def experiment(self, slug: str) -> Experiment:
        """Return an experiment by its slug, after reading its published numbers."""
        from benchbook.declare import as_written, plugin, used
        from benchbook.declare.experiment import Experiment

        for kind in (
            "dataset",
            "workload",
        ):  # says what is wrong with them; the registries leave broken ones out
            plugin.own(slug, kind)
        from benchbook.declare.several import expanded
        from benchbook.declare.toml import check

        path = self.path("experiment", slug)
        experiment = check(expanded(path, self.label(path)), Experiment, self.label(path))
        try:
            as_written.check(experiment.claims, self.published(slug))
            used.account(experiment, self.published(slug))
            self._check_counted(experiment)
        except RequestError as error:
            raise RequestError(f"experiments/{slug}/experiment.toml: {error.message}", error.hint) from None
        return experiment

    def _check_counted(self, experiment: Experiment) -> None:
        """Refuse a claim that is counted with one that no experiment has."""
        for claim in experiment.claims:
            slug, elsewhere, name = (claim.counted_with or "").rpartition("/")
            known = self.claims(slug) if elsewhere else {name: {}}
            if name not in known:
                raise RequestError(
                    f'claims "{claim.id}": counted_with: the experiment {slug} has no claim "{name}"'
                    f"{suggestion(name, known) or '.'}"
                )

    def publication(self, slug: str) -> Publication | None:
        """Return the publication that an experiment reruns; None if this catalogue declares none.

        Pages take it from here, because a run keeps the declarations that it began with.
        """
        from benchbook.declare.publication import Publication

        try:
            stated = self.unchecked("experiment", slug).get("publication")
            return Publication.model_validate(stated) if stated else None
        except (RequestError, ValueError):  # other commands report an invalid declaration
            return None

    def claims(self, slug: str) -> dict[str, dict[str, Any]]:
        """Return id → declaration of each claim of today, unchecked; empty if this catalogue lacks the experiment."""
        try:
            return {str(one.get("id")): one for one in self.unchecked("experiment", slug).get("claims") or []}
        except RequestError:
            return {}

    def published(self, slug: str) -> Path:
        """Return the folder of the published results that an experiment names: that of its layer."""
        from benchbook.declare import published

        folder = checkout.experiments(self.layers).get(slug)
        return (folder.parents[1] if folder else self.layers[0]) / published.FOLDER

    def label(self, path: Path) -> str:
        """Return ``path`` as errors show it: relative to the project if it is in the project."""
        first = self.layers[0]
        return str(path.relative_to(first)) if path.is_relative_to(first) else str(path)

    def _read(self, kind: str, name: str, model: type[M]) -> M:
        from benchbook.declare.toml import read

        path = self.path(kind, name)
        return read(path, model, self.label(path))

    def _named(self, kind: str, name: str, model: type[M]) -> M:
        declared = self._read(kind, name, model)
        stated = getattr(declared, "name", name)
        if stated != name:
            shown = self.label(self.path(kind, name))
            raise RequestError(
                f'{shown}: name = "{stated}", but the file is called {name}.toml.', "Give both the same name."
            )
        return declared


def models() -> dict[str, type[Model]]:
    """Return the model of each kind of declaration."""
    from benchbook.declare.dataset import Dataset
    from benchbook.declare.experiment import Experiment
    from benchbook.declare.storage import Storage
    from benchbook.declare.system import System

    return {
        "system": System,
        "storage": Storage,
        "dataset": Dataset,
        "experiment": Experiment,
    }


def _of_files() -> dict[str, type[Model]]:
    """Return the model of each kind of TOML file."""
    from benchbook.declare.project_file import Project

    return {**models(), "project": Project}


def schema_text(kind: str) -> str:
    """Return the JSON Schema of a kind of declaration: the content of ``docs/schema/<kind>.json``."""
    from benchbook.declare.reference import with_options

    schema = _of_files()[kind].model_json_schema()
    shown = with_options(schema) if kind == "experiment" else schema
    return json.dumps(shown, indent=2, sort_keys=True) + "\n"


def write_reference(docs: Path) -> None:
    """Write the JSON Schemas of all declarations, for editors, and the page of workloads."""
    from benchbook.declare.reference import page

    (docs / "schema").mkdir(parents=True, exist_ok=True)
    for kind in _of_files():
        (docs / "schema" / f"{kind}.json").write_text(schema_text(kind), encoding="utf-8")
    (docs / "workloads.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write_reference(Path(__file__).resolve().parents[3] / "docs")
