"""Ask a program for its version."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbook.declare.system import System

TIMEOUT_SECONDS = 30.0


def version(system: System, program: Path) -> str | None:
    """Return the version that ``program`` states, or None where its declaration has no version command.

    A program that cannot be run, or whose output holds no version, states ``unknown (…)`` with the reason,
    which matches no pin.
    """
    source = system.source.host
    if source is None:
        return None
    command = [part.replace("{program}", str(program)) for part in source.version_command]
    try:
        ran = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"unknown (no answer in {TIMEOUT_SECONDS:.0f} s)"
    except OSError as error:
        return f"unknown ({error.strerror or error})"
    output = ran.stdout + ran.stderr
    found = re.search(source.version_pattern, output)
    if found is None:
        return f"unknown (it said {' '.join(output.split())[:120]!r})"
    return found.group(1) if found.groups() else found.group(0)
