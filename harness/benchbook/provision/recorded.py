"""Record of a built program in the cache: its pin, its digest, and the toolchain that built it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchbook.host.provenance import sha256_of

FILE = "pin.json"
"""File next to the program."""


def write(folder: Path, pin: dict[str, Any], program: str, toolchain: str) -> None:
    """Write the record of a new program in ``folder``."""
    record = {"pin": pin, "digest": sha256_of(folder / program), "toolchain": toolchain}
    (folder / FILE).write_text(json.dumps(record, indent=1) + "\n")


def read(folder: Path, pin: dict[str, Any], program: str) -> dict[str, str] | None:
    """Return ``digest`` and ``toolchain`` if ``folder`` holds exactly the bytes that were built, else None."""
    try:
        record = json.loads((folder / FILE).read_text())
        if record["pin"] == pin and record["digest"] == sha256_of(folder / program):
            return {"digest": str(record["digest"]), "toolchain": str(record["toolchain"])}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None
