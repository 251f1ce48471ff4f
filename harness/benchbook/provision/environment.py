"""A separate Python environment for one version of an embedded system, built once into the cache.

The system's declaration lists every file with its digest, so the installer resolves nothing and a registry cannot
change the files. ``harness/relock-python`` writes the list. The worker runs with this environment's Python, and needs
only the standard library and the packages listed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import platform
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import Unavailable
from benchbook.process.launch import Program, call
from benchbook.provision.lock import with_lock
from benchbook.provision.request import INSTALL_SECONDS, Missing, Request, fill_once

if TYPE_CHECKING:
    from benchbook.declare.system import PythonSource, System

RECORD = "environment.json"
HEADING = "[source.python.wheels]"
"""Table of a declaration with the lock of its packages."""


def find(system: System, source: PythonSource, request: Request) -> Program | Missing:
    """Return the Python of the cached environment; build it first if it is missing or incomplete.

    Raise Unavailable with the installer's message if that fails.
    """
    folder = folder_of(system, source, request)
    if not _is_complete(folder, source):
        python = _python(source, request)
        if python is None:
            return _no_python(source)
        fill_once(
            folder,
            lambda: _is_complete(folder, source),
            lambda new: _build(new, system, source, python, request),
            system.title,
            request,
        )
    built = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    return Program(
        system.name,
        system.version,
        "python",
        path=folder / "bin" / "python",
        digest=digest(source),
        detail=f"a separate environment of Python {built['python']} with {', '.join(packages(source.wheels))}",
    )


def preview(system: System, source: PythonSource, request: Request) -> str | Missing:
    """Describe the cached environment, or what would be built."""
    folder, wanted = folder_of(system, source, request), ", ".join(packages(source.wheels))
    if (folder / RECORD).is_file():
        return f"use {folder} ({wanted})"
    if _python(source, request) is None:
        return _no_python(source)
    return f"build an environment of Python {source.python} once: {wanted}, into {folder}"


def folder_of(system: System, source: PythonSource, request: Request) -> Path:
    """Return the cache folder of exactly these files."""
    return request.cache_folder() / "systems" / f"{system.name}-{_key(source)[:16]}"


def uv() -> Path | None:
    """Return the installer uv: the one with which ./bench set this environment up, or the one on PATH."""
    bundled = Path(sys.prefix).parent / "uv" / "bin" / "uv"
    found = str(bundled) if bundled.is_file() else shutil.which("uv")
    return Path(found) if found else None


def packages(files: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the requirement of each package with the digests of its files.

    >>> packages({"a_b-1.0-py3-none-any.whl": "f0"})
    {'a-b==1.0': ['f0']}
    """
    found: dict[str, list[str]] = {}
    for file, sha256 in files.items():
        name, version, *_ = file.split("-")
        found.setdefault(f"{name.replace('_', '-')}=={version}", []).append(sha256)
    return found


def requirements(files: Mapping[str, str]) -> str:
    """Return the installer's list of packages: each at one version and with the digests of its files."""
    lines = []
    for package, digests in packages(files).items():
        lines.append(" ".join([package, *(f"--hash=sha256:{one}" for one in digests)]) + "\n")
    return "".join(lines)


def main(arguments: list[str]) -> None:
    """Serve ``harness/relock-python``: ``wanted FILE`` prints requirements, ``write FILE LOCK…`` writes the files.

    ``write`` also prints the day on which the system's package was published, for the key ``released``.
    """
    file = Path(arguments[1])
    text = file.read_text(encoding="utf-8")
    declared = tomllib.loads(text)
    source = declared["source"]["python"]
    if arguments[0] == "wanted":
        print("\n".join([f"{source['package']}=={declared['version']}", *source.get("requires", [])]))  # noqa: T201
        return
    locked: dict[str, str] = {}
    days = set()
    for lock in arguments[2:]:
        for package in tomllib.loads(Path(lock).read_text(encoding="utf-8"))["packages"]:
            for wheel in package["wheels"]:
                locked[wheel["url"].rpartition("/")[2]] = wheel["hashes"]["sha256"]
                if package["name"] == source["package"]:
                    days.add(wheel["upload-time"].date())
    file.write_text(with_lock(text, HEADING, dict(sorted(locked.items()))), encoding="utf-8")
    print(f'{file.name}: released = "{min(days)}"')  # noqa: T201


def digest(source: PythonSource) -> str:
    """Return the digest of all pinned files on this kind of machine."""
    return f"sha256:{_key(source)}"


def _key(source: PythonSource) -> str:
    kept = [source.python, platform.machine(), source.wheels]
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def _python(source: PythonSource, request: Request) -> Path | None:
    """Return a Python of the wanted series: the one that runs Benchbook, or the one on PATH."""
    if source.python == f"{sys.version_info.major}.{sys.version_info.minor}":
        return Path(sys.executable)
    found = shutil.which(f"python{source.python}", path=request.environment.get("PATH"))
    return Path(found) if found else None


def _no_python(source: PythonSource) -> Missing:
    return Missing(
        f"python: its packages are for Python {source.python}, and no python{source.python} is on PATH",
        f"sudo apt-get install python{source.python} python{source.python}-venv",
    )


def _is_complete(folder: Path, source: PythonSource) -> bool:
    """Return whether the environment has its Python and every file of its packages as it was installed."""
    if not (folder / RECORD).is_file() or not (folder / "bin" / "python").is_file():
        return False
    found = list(distributions(path=[str(_site_packages(folder, source))]))
    return len(found) >= len(packages(source.wheels)) and all(_is_intact(one) for one in found)


def _is_intact(package: Distribution) -> bool:
    """Return whether the compiled modules of a package have the digests in its record."""
    for file in package.files or []:
        if file.suffix == ".so" and file.hash is not None:
            path = Path(str(file.locate()))
            if not path.is_file():
                return False
            digest = hashlib.sha256(path.read_bytes()).digest()
            if base64.urlsafe_b64encode(digest).decode().rstrip("=") != file.hash.value:
                return False
    return True


def _site_packages(folder: Path, source: PythonSource) -> Path:
    return folder / "lib" / f"python{source.python}" / "site-packages"


def _build(new: Path, system: System, source: PythonSource, python: Path, request: Request) -> None:
    """Install the locked packages into ``new``; raise Unavailable with the end of the installer's output."""
    request.progress(f"building the Python environment of {system.title} once")
    lock = new / "requirements.lock"
    lock.write_text(requirements(source.wheels), encoding="utf-8")
    inside = new / "bin" / "python"
    options = ["--require-hashes", "--no-deps", "--only-binary=:all:", "--requirement", str(lock)]
    if installer := uv():
        commands: list[list[str | Path]] = [
            [
                installer,
                "venv",
                "--quiet",
                "--no-project",
                "--no-config",
                "--allow-existing",
                "--python",
                python,
                new,
            ],
            [installer, "pip", "install", "--quiet", "--no-config", "--python", inside, *options],
        ]
    else:
        commands = [
            [python, "-m", "venv", new],
            [inside, "-m", "pip", "install", "--disable-pip-version-check", *options],
        ]
    dropped = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: value for name, value in request.environment.items() if name not in dropped}
    for command in commands:
        _run(command, system, environment | {"UV_PYTHON_DOWNLOADS": "never"})
    version = call([inside, "-c", "import platform; print(platform.python_version())"]).stdout.strip()
    record = {"python": version, "wheels": source.wheels}
    (new / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _run(command: list[str | Path], system: System, environment: Mapping[str, str]) -> None:
    try:
        ran = call(command, INSTALL_SECONDS, env=dict(environment))
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"The Python environment of {system.title} could not be built: {error}.") from error
    if ran.returncode != 0:
        lines = [line.strip() for line in (ran.stdout + ran.stderr).splitlines() if line.strip()]
        raise Unavailable(
            f"The Python environment of {system.title} could not be built: "
            f"{' '.join(lines[-8:])[-700:] or 'no message'}",
            "Check that this machine reaches a registry of Python packages (UV_DEFAULT_INDEX or PIP_INDEX_URL "
            "names a mirror), then run again.",
        )


if __name__ == "__main__":
    main(sys.argv[1:])
