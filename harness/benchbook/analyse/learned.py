"""The priors of the variance between processors, as this version of Benchbook has learned them (``priors`` learns)."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchbook.analyse.alike import Kind
from benchbook.analyse.processors import Between
from benchbook.declare import checkout

FILE = Path("reports") / "priors.json"
"""In the checkout, because it is learned from the runs there."""


@functools.cache
def priors() -> dict[Kind, Between]:
    """Return class of metric → its prior."""
    return of_rows(json.loads((checkout.root() / FILE).read_text(encoding="utf-8"))["priors"])


def of_rows(held: Mapping[Kind, Mapping[str, Any]]) -> dict[Kind, Between]:
    """Return the priors of a recorded file."""
    return {kind: Between(one["scale"], one["freedom"]) for kind, one in held.items()}
