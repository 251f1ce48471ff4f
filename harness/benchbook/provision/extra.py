"""Python packages that the locked environment has not: clients of some servers, and servers that come as packages."""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import Unavailable

if TYPE_CHECKING:
    from benchbook.declare.system import System


def check_client(system: System) -> None:
    """Raise Unavailable, with the command that gets it, where the client of a system is not installed."""
    client = system.client
    if client is not None and importlib.util.find_spec(client.module.partition(".")[0]) is None:
        raise Unavailable(
            f"{system.title} cannot be driven here: its client, the Python package {client.package}, "
            "is not installed.",
            f"Get it with: {command(system)}",
        )


def command(system: System) -> str:
    """Return the command that installs what a system needs besides the locked environment."""
    wanted = [f"{system.client.package}=={system.client.version}"] if system.client else []
    source = system.source.python
    if source is not None and source.program:
        wanted.insert(0, f"{source.package}=={system.version}")
    if Path(sys.prefix).is_relative_to("/nix/store"):  # takes no more packages
        return f"./bench, without Nix, in whose environment they can be installed: {' '.join(wanted)}"
    return shlex.join([*_installer(Path(sys.prefix)), *wanted])


def _installer(environment: Path) -> list[str]:
    """Return how packages get into this environment: uv where it made it, which leaves no pip there."""
    own = environment.parent / "uv" / "bin" / "uv"
    uv = str(own) if own.is_file() else shutil.which("uv")
    python = str(environment / "bin" / "python")
    return [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
