"""The extras of Benchbook: optional Python packages, whether they are installed, and the command that installs them."""

from __future__ import annotations

import importlib.util
import json
import shlex
import shutil
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from types import MappingProxyType

from benchbook.errors import RequestError

EXTRAS = MappingProxyType({
    "cluster": ("distributed",),
    "quarto": ("ipykernel", "nbclient"),
    "servers": ("docker", "psycopg", "pymysql", "redis", "requests", "tornado"),
})  # fmt: skip
"""Extra of ``harness/pyproject.toml`` → its packages, each named like its module."""
PURPOSES = MappingProxyType({
    "cluster": "dask and --cluster: a run on several machines",
    "quarto": "pages and PDF by Quarto",
    "servers": "PostgreSQL, MySQL, MariaDB, Redis and Kvrocks; images with a Docker engine",
})  # fmt: skip


def missing(packages: Iterable[str]) -> str | None:
    """Return the first of these packages that is not installed, or None."""
    return next((one for one in packages if importlib.util.find_spec(one) is None), None)


def extra_of(package: str) -> str | None:
    """Return the extra that has a package, or None.

    >>> extra_of("redis"), extra_of("duckdb")
    ('servers', None)
    """
    return next((extra for extra, packages in EXTRAS.items() if package in packages), None)


def named(package: str) -> str:
    """Return a package and its extra, as part of a sentence.

    >>> named("redis"), named("duckdb")
    ("the Python package redis (Benchbook's extra servers)", 'the Python package duckdb')
    """
    extra = extra_of(package)
    return f"the Python package {package}" + (f" (Benchbook's extra {extra})" if extra else "")


def require(packages: Iterable[str], what: str) -> None:
    """Raise RequestError with the command that installs them if ``what`` lacks one of these packages."""
    lacked = missing(packages)
    if lacked is not None:
        raise RequestError(
            f"{what} needs {named(lacked)}, which is not installed.", f"Get it with: {command(lacked)}"
        )


def command(package: str) -> str:
    """Return the command that installs a package's extra, and again those that are installed.

    It is a command of the installer that installed Benchbook. ./bench and the flake install all extras.
    """
    prefix = Path(sys.prefix)
    if (prefix / "requirements.lock").is_file():
        return f"rm -r {shlex.quote(str(prefix))}  # the next command of ./bench installs it again"
    extras = [extra for extra, packages in EXTRAS.items() if package in packages or not missing(packages)]
    wanted = f"benchbook[{','.join(extras)}]" if extras else "benchbook"
    return shlex.join([*_installer(prefix), wanted + _origin()])


def _installer(prefix: Path) -> list[str]:
    if (prefix / "uv-receipt.toml").is_file():
        return ["uv", "tool", "install"]
    if (prefix / "pipx_metadata.json").is_file():
        return ["pipx", "install", "--force"]
    return installer(str(prefix / "bin" / "python"), "uv" if shutil.which("uv") else None)


def installer(python: str, uv: str | None) -> list[str]:
    """Return the beginning of a command that installs packages for a Python: with uv if it is given."""
    return [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]


def _origin() -> str:
    """Return where the installed Benchbook came from, as the end of a requirement; empty for an index."""
    try:
        text = metadata.distribution("benchbook").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return ""
    stated = json.loads(text or "{}")
    if not stated:
        return ""
    address, revision = stated["url"], stated.get("vcs_info")
    if revision:
        address = f"{revision['vcs']}+{address}@{revision['commit_id']}"
    folder = stated.get("subdirectory")
    return f" @ {address}" + (f"#subdirectory={folder}" if folder else "")
