"""Python packages that the locked environment has not: clients of some servers, and servers that come as packages."""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.declare.catalogue import root
from benchbook.provision.request import Missing

if TYPE_CHECKING:
    from benchbook.declare.system import System


def client(system: System) -> Missing | None:
    """Return what is missing where a system is driven by a Python package that is not installed; else None."""
    wanted = system.client
    if wanted is None or importlib.util.find_spec(wanted.module.partition(".")[0]) is not None:
        return None
    return Missing(
        f"its client, the Python package {wanted.package}, is not installed",
        command(system),
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
    uv = _shown(own) if own.is_file() else shutil.which("uv")
    python = _shown(environment / "bin" / "python")
    return [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]


def _shown(path: Path) -> str:
    """Return a path as it is typed in the checkout, where ``./bench`` is typed too."""
    return str(path.relative_to(root())) if path.is_relative_to(root()) else str(path)
