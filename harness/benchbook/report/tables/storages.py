"""Where the data stood: file system, mount options, the programs behind a mount and how they were told to work."""

from __future__ import annotations

import json
from typing import Any

from benchbook.report import quantity
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing


def table(run: Run) -> Table | Words:
    """Return one row a storage of the run, as its first trial that counts found it."""
    found: dict[str, dict[str, Any]] = {}
    for name, facts in run.ok.select("storage", "storage_facts").iter_rows():
        if facts and name not in found:
            found[name] = json.loads(facts)
    if not found:
        return missing("Where the data stood", "no trial of this run stored it")
    rows = [
        [
            name,
            str(facts.get("type") or quantity.MISSING),
            _listed(facts.get("mount_options")),
            ", ".join(f"{program} {version}" for program, version in (facts.get("programs") or {}).items())
            or "none",
            _listed(facts.get("s3fs_options"))
            if facts.get("s3fs_options")
            else str(facts.get("made_with") or ""),
            _device(facts.get("below") or facts),
        ]
        for name, facts in sorted(found.items())
    ]
    return Table(["Storage", "File system", "Mounted with", "Programs", "Options", "Device below"], rows)


def _listed(value: Any) -> str:
    return ", ".join(str(one) for one in value) if isinstance(value, list) else str(value or quantity.MISSING)


def _device(facts: dict[str, Any]) -> str:
    device = facts.get("device")
    name = str(device.get("name")) if isinstance(device, dict) else str(device or quantity.MISSING)
    return f"{facts.get('type')} on {name}" if isinstance(device, dict) else name
