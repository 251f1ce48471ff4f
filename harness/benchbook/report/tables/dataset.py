"""The dataset: what it is made of, how large it is, and the digest that says it was the same for all."""

from __future__ import annotations

import json
from typing import Any

from benchbook.report import fact, quantity
from benchbook.report.results import Run
from benchbook.report.table import Code, Table
from benchbook.report.words import Words, missing

COUNTS = {"rows": "Rows", "values": "Values", "bytes": "Bytes of line protocol"}


def table(run: Run) -> Table | Words:
    """Return the dataset's name, parameters, size and digest."""
    facts = run.facts("dataset")
    planned = _planned(run)
    if not facts and not planned:
        return missing("The dataset", "the run has none recorded")
    rows: list[list[str | Code]] = [["Name", str(facts.get("name") or planned.get("name") or "unknown")]]
    for key in ("generator", "seed"):
        value = facts.get(key, planned.get(key))
        if value is not None:
            rows.append([key.capitalize(), fact.text(value)])
    for key, value in (planned.get("parameters") or facts.get("parameters") or {}).items():
        rows.append([f"Parameter {key}", fact.text(value)])
    blobs = "blob" in (facts.get("generator"), planned.get("generator"))
    for key, name in (COUNTS | {"rows": "Objects", "bytes": "Bytes of objects"} if blobs else COUNTS).items():
        if isinstance(facts.get(key), int):
            size = f" ({quantity.text(float(facts[key]), 'B')})" if key == "bytes" else ""
            rows.append([name, quantity.count(facts[key]) + size])
    digest = facts.get("digest") or facts.get("sha256") or run.info["dataset_digest"]
    if digest:
        rows.append(
            ["Digest", Code(str(digest) if str(digest).startswith("sha256:") else f"sha256:{digest}")]
        )
    if run.info["queries_digest"]:
        rows.append(["Digest of the query set", Code(str(run.info["queries_digest"]))])
    return Table(["What", "Which"], rows)


def _planned(run: Run) -> dict[str, Any]:
    """Return the dataset as the plan declares it; empty for a run whose plan is not at hand, as an imported one."""
    try:
        text = (run.results / "runs" / run.run_id / "plan.json").read_text(encoding="utf-8")
        found = json.loads(text).get("dataset")
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
