"""TOML configuration files of servers as flat settings: ``section.key`` → value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from benchbook.systems.driver import Setting


def sections_text(flat: Mapping[str, Setting | Sequence[str]], sections: Sequence[str] = ()) -> str:
    """Write flat settings as TOML, sorted by key.

    Sections in ``sections`` are written even if they are empty.

    >>> print(sections_text({"on": True, "wal.path": "/w"}))
    on = true
    <BLANKLINE>
    [wal]
    path = "/w"
    <BLANKLINE>
    """
    parts: dict[str, dict[str, Setting | Sequence[str]]] = {section: {} for section in sections}
    for key in sorted(flat):
        section, _, name = key.rpartition(".")
        parts.setdefault(section, {})[name] = flat[key]
    shown = []
    for section in sorted(parts):
        lines = [f"[{section}]"] if section else []
        # A JSON string, number, boolean or list of strings is also a TOML one.
        lines += [f"{name} = {json.dumps(value)}" for name, value in parts[section].items()]
        shown.append("\n".join(lines) + "\n")
    return "\n".join(shown)


def flat_keys(table: Mapping[str, object], prefix: str = "") -> list[str]:
    """Return the keys of a table and its sections.

    >>> flat_keys({"on": True, "wal": {"path": "/w"}})
    ['on', 'wal.path']
    """
    keys: list[str] = []
    for name, value in table.items():
        keys += flat_keys(value, f"{prefix}{name}.") if isinstance(value, dict) else [f"{prefix}{name}"]
    return keys
