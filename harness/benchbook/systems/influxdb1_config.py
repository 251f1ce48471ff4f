"""The configuration of InfluxDB 1.x: what the harness must set, then what the arm changes."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from benchbook.errors import TrialFailed, nearest
from benchbook.systems.driver import Place, Setting

FOLDERS = {"meta.dir": "meta", "data.dir": "data", "data.wal-dir": "wal"}
"""Keys that name folders, and the folder's name under the trial's data folder. No arm may change them."""
FILE = "influxdb.conf"


def settings(data: str, http: str, rpc: str, arm: Mapping[str, Setting]) -> dict[str, Setting]:
    """Return all keys that differ from the defaults: ``section.key`` → value.

    ``data`` is the data folder, ``http`` and ``rpc`` are ``host:port``. Raises TrialFailed when the arm sets
    a key that belongs to the harness.
    """
    for key in FOLDERS:
        if key in arm:
            raise TrialFailed(
                f'The arm sets "{key}", which the harness sets to the trial\'s data folder.',
                "Take it out of the arm; choose the place of the data with a storage.",
            )
    own: dict[str, Setting] = {"reporting-disabled": True, "bind-address": rpc, "http.bind-address": http}
    return own | {key: f"{data}/{name}" for key, name in FOLDERS.items()} | dict(arm)


def text(flat: Mapping[str, Setting]) -> str:
    """Write ``section.key`` → value as TOML, in an order that depends on the keys alone.

    >>> print(text({"reporting-disabled": True, "data.dir": "/d"}))
    reporting-disabled = true
    <BLANKLINE>
    [data]
    dir = "/d"
    <BLANKLINE>
    """
    sections: dict[str, dict[str, Setting]] = {}
    for key in sorted(flat):
        section, _, name = key.rpartition(".")
        sections.setdefault(section, {})[name] = flat[key]
    parts = []
    for section in sorted(sections):
        lines = [f"[{section}]"] if section else []
        # A JSON string, number or boolean is also a TOML one.
        lines += [f"{name} = {json.dumps(value)}" for name, value in sections[section].items()]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def check_known(place: Place, file: Path) -> None:
    """Raise TrialFailed when the server does not know a key of the arm: by itself it ignores it silently."""
    if not place.settings:
        return
    assert place.program.path is not None
    ran = place.call([place.program.path, "config", "-config", file], timeout_seconds=30)
    if ran.returncode != 0:
        raise TrialFailed(
            f"InfluxDB refuses its configuration: {' '.join(ran.stderr.split())}", "Correct the arm."
        )
    known = _flat(tomllib.loads(ran.stdout))
    for key in place.settings:
        if key not in known:
            guess = nearest(key, known)
            raise TrialFailed(
                f'InfluxDB has no setting "{key}".',
                f'Did you mean "{guess}"?' if guess else "Correct the arm.",
            )


def _flat(table: Mapping[str, object], before: str = "") -> list[str]:
    keys: list[str] = []
    for name, value in table.items():
        keys += _flat(value, f"{before}{name}.") if isinstance(value, dict) else [f"{before}{name}"]
    return keys
