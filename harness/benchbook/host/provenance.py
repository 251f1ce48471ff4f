"""Provenance of the code that makes a run: revision, locks, versions, digests (rule 14 of docs/methods.md)."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import benchbook
from benchbook.host.reading import Facts, Unreadable, program_output, read_fact

FLAKE_VARIABLE = "BENCHBOOK_NIX_REVISION"
"""Set by the flake to its revision, with ``-dirty`` if there are changes. The Nix store has no .git."""

UNKNOWN_TO_FLAKE = "unknown"
"""Value of the variable if Nix passes no revision to the flake."""

OURS = (
    "bench", "harness/", "systems/", "storage/", "datasets/", "experiments/", "reports/", "nix/", "flake.",
    "workloads/", "benchbook.toml",
)  # fmt: skip
"""Paths in which an untracked file can change what a run does."""

NOT_OURS = ":(exclude)projects"
"""Projects in the checkout of another one, which uses none of their files."""

WRITTEN_BY_A_RUN = "systems/images.lock.json"
"""A first pull adds a digest to the lock of images; the run records this digest with the program."""

GIT_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class Revision:
    """The revision, or None and the reason why it is unknown."""

    revision: str | None
    dirty: bool | None
    """True if the running code differs from the revision."""
    detail: str = ""
    prefix: str = ""
    """Path of the folder below that of the checkout, with a slash at its end."""


def revision(root: Path) -> Revision:
    """Return the revision of the checkout at ``root``; never raise."""
    flake = os.environ.get(FLAKE_VARIABLE)
    return of_flake(flake) if flake else of_git(root)


def of_git(root: Path, marker: str = "") -> Revision:
    """Return the revision of a folder that is a Git checkout; never raise.

    A folder inside a checkout has its revision if that contains the folder's file ``marker``. Only the changes in the
    folder count then.
    """
    try:
        prefix, head = _git(root, "rev-parse", "--show-prefix", "HEAD").splitlines()
        if prefix and not marker:
            return Revision(None, None, "the folder is inside another checkout")
        if prefix and not _git(root, "ls-tree", "HEAD", "--", marker):
            return Revision(None, None, f"it is inside a checkout whose revision has no {prefix}{marker}")
        status = "status", "--porcelain", "--untracked-files=normal", "--", ".", NOT_OURS
        changes = _git(root, *status).splitlines()
    except FileNotFoundError:
        return Revision(None, None, "git is absent")
    except subprocess.TimeoutExpired:
        return Revision(None, None, f"git did not answer in {GIT_TIMEOUT_SECONDS:g} s")
    except (subprocess.CalledProcessError, OSError, ValueError) as error:
        message = getattr(error, "stderr", "") or str(error)
        return Revision(None, None, _reason(message))
    return Revision(head, any(_counts(line, prefix) for line in changes), prefix=prefix)


def of_flake(flake: str) -> Revision:
    """Return the revision that a flake reports."""
    if flake in ("", UNKNOWN_TO_FLAKE):
        detail = "the flake has none: a copy, a checkout with changes, or one whose inputs were overridden"
        return Revision(None, None, detail)
    return Revision(flake.removesuffix("-dirty"), flake.endswith("-dirty"), "reported by the flake")


def _counts(line: str, prefix: str) -> bool:
    status, path = line[:2], line[3:].strip('"').removeprefix(prefix)
    return path != WRITTEN_BY_A_RUN and (status != "??" or path.startswith(OURS))


def _reason(message: str) -> str:
    """Return git's reason without the name of the folder."""
    if "dubious ownership" in message:
        return "git refuses a checkout that belongs to another user"
    if "not a git repository" in message:
        return "the folder is not a checkout"
    return "git reports no revision"


def _git(root: Path, *arguments: str) -> str:
    # A hook's GIT_DIR would lead to another checkout, and a status that writes would disturb parallel work.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        capture_output=True,
        text=True,
        env=environment,
        stdin=subprocess.DEVNULL,
        timeout=GIT_TIMEOUT_SECONDS,
        check=True,
    )
    return done.stdout


def is_shallow(root: Path) -> bool:
    """Return whether a checkout has only the end of git's history."""
    try:
        return _git(root, "rev-parse", "--is-shallow-repository").strip() == "true"
    except (OSError, subprocess.SubprocessError):
        return False


def removed(root: Path, place: Path) -> set[tuple[str, str]]:
    """Return each (EXPERIMENT, RUN) that a commit removed from ``place``; empty without the history of git."""
    words = ["--no-renames", "--diff-filter=D", "--name-only", "--relative", "--format="]
    try:
        text = _git(root, "log", *words, "--", place.as_posix())
    except (OSError, subprocess.SubprocessError):
        return set()
    paths = [Path(line) for line in text.splitlines()]
    return {
        (path.parts[-3], path.parts[-2])
        for path in paths
        if path.name == "run.json" and path.parents[2] == place
    }


PACKAGES = (
    "altair", "duckdb", "hdrhistogram", "mistune", "nbformat", "numpy", "polars", "psutil",
    "pyarrow", "pydantic", "scipy", "vl-convert-python",
)  # fmt: skip
"""Packages that produce results or numbers in a report."""

SYSTEMS_VARIABLE = "BENCHBOOK_NIX_SYSTEMS"
"""Variable that names the flake's JSON file of system → store path."""

INPUTS_VARIABLE = "BENCHBOOK_NIX_INPUTS"
"""Variable that names the flake's JSON file of the pinned nixpkgs: pin → revision and narHash."""


def provenance(root: Path, benchload: Path | None = None) -> Facts:
    """Return the provenance of the code in the checkout (or store path) at ``root``; never raise.

    ``benchload`` is by default the one that ./bench or the flake names in BENCHBOOK_BENCHLOAD. Digests are
    ``sha256:<hex>``; None means that a file is absent.
    """
    known = revision(root)
    return {
        "benchbook_version": benchbook.__version__,
        "source_digest": source_digest(Path(benchbook.__file__).parent),
        "git_revision": known.revision,
        "git_dirty": known.dirty,
        "git_detail": known.detail,
        "lock_digest": file_digest(root / "harness" / "requirements.lock"),
        "flake_lock_digest": file_digest(root / "flake.lock"),
        "go_sum_digest": file_digest(root / "harness" / "benchload" / "go.sum"),
        "python": platform.python_version(),
        "python_implementation": platform.python_implementation(),
        "packages": {name: _package(name) for name in PACKAGES},
        "benchload": _benchload(benchload),
        "nix": _nix(),
    }


def sha256_of(file: Path) -> str:
    """Return ``sha256:<hex>`` of a file's bytes."""
    with file.open("rb") as content:
        return f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}"


def file_digest(path: Path) -> str | None:
    """Return the digest of a file; None if it does not exist."""
    try:
        return sha256_of(path)
    except OSError:
        return None


def source_digest(package: Path) -> str:
    """Return one digest of all files of a package, by name and content, without Python's caches."""
    whole = hashlib.sha256()
    files = (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    for name, path in sorted((path.relative_to(package).as_posix(), path) for path in files):
        whole.update(f"{name}\0{file_digest(path)}\n".encode())
    return f"sha256:{whole.hexdigest()}"


def _package(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _benchload(configured: Path | None) -> Facts:
    binary = configured or os.environ.get("BENCHBOOK_BENCHLOAD") or shutil.which("benchload")
    if not binary:
        return {"version": None, "digest": None}
    return {"version": read_fact(_benchload_version, Path(binary)), "digest": file_digest(Path(binary))}


def _benchload_version(binary: Path) -> str:
    try:
        return str(json.loads(program_output([str(binary), "version"]))["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable("benchload reports no version") from error


def _nix() -> Facts | None:
    """Return what the flake passed; None if Benchbook was not started from it."""
    file, flake = os.environ.get(SYSTEMS_VARIABLE), os.environ.get(FLAKE_VARIABLE)
    if not file and not flake:
        return None
    known: Facts = {"revision": flake, "systems": read_fact(_json, file) if file else {}}
    if inputs := os.environ.get(INPUTS_VARIABLE):
        known["inputs"] = read_fact(_json, inputs)
    return known


def _json(file: str) -> Any:
    return json.loads(Path(file).read_text(encoding="utf-8"))
