"""JSON Schemas of the declarations, for editors and for the check that committed ones are true."""

from __future__ import annotations

import json
from pathlib import Path

from benchbook.declare.dataset import Dataset
from benchbook.declare.experiment import Experiment
from benchbook.declare.model import Model
from benchbook.declare.storage import Storage
from benchbook.declare.system import System

MODELS: dict[str, type[Model]] = {
    "system": System,
    "storage": Storage,
    "dataset": Dataset,
    "experiment": Experiment,
}


def text(kind: str) -> str:
    """Return the JSON Schema of a kind of declaration, as it stands in ``docs/schema/<kind>.json``."""
    return json.dumps(MODELS[kind].model_json_schema(), indent=2, sort_keys=True) + "\n"


def write(folder: Path) -> None:
    """Write all schemas into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in MODELS:
        (folder / f"{kind}.json").write_text(text(kind), encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).resolve().parents[3] / "docs" / "schema")
