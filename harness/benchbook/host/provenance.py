"""Where the code that makes a run comes from: revision, locks, versions, digests (rule 14 of docs/methods.md)."""

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
from benchbook.host.reading import Facts, Unreadable, said, stated

# Which revision of Benchbook runs, as git or the flake tells it.

FLAKE_VARIABLE = "BENCHBOOK_NIX_REVISION"
"""Set by the flake to its revision; one with changes ends in ``-dirty``. There is no .git in the Nix store."""

UNKNOWN_TO_FLAKE = "unknown"
"""What the flake says where Nix tells it no revision."""

OURS = (
    "bench",
    "harness/",
    "systems/",
    "storage/",
    "datasets/",
    "experiments/",
    "reports/",
    "nix/",
    "flake.",
)
"""Where a file that git does not know yet can change what a run does."""

GIT_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class Revision:
    """The revision, None where it is not known, and then why."""

    revision: str | None
    dirty: bool | None
    """Whether what runs differs from it."""
    detail: str = ""


def revision(root: Path) -> Revision:
    """Return the revision of the checkout at ``root``; never raises."""
    flake = os.environ.get(FLAKE_VARIABLE)
    if flake:
        return _of_flake(flake)
    try:
        top, head = _git(root, "rev-parse", "--show-toplevel", "HEAD").splitlines()
        if Path(top).resolve() != root.resolve():
            return Revision(None, None, "the folder is no checkout of its own")
        changes = _git(root, "status", "--porcelain", "--untracked-files=normal").splitlines()
    except FileNotFoundError:
        return Revision(None, None, "git is absent")
    except subprocess.TimeoutExpired:
        return Revision(None, None, f"git did not answer in {GIT_TIMEOUT_SECONDS:g} s")
    except (subprocess.CalledProcessError, OSError, ValueError) as error:
        words = getattr(error, "stderr", "") or str(error)
        return Revision(None, None, _reason(words))
    return Revision(head, any(_counts(line) for line in changes))


def _of_flake(flake: str) -> Revision:
    if flake == UNKNOWN_TO_FLAKE:
        detail = "the flake has none: a copy, a checkout with changes, or one whose inputs were overridden"
        return Revision(None, None, detail)
    return Revision(flake.removesuffix("-dirty"), flake.endswith("-dirty"), "as the flake states it")


def _counts(line: str) -> bool:
    status, path = line[:2], line[3:].strip('"')
    return status != "??" or path.startswith(OURS)


def _reason(words: str) -> str:
    """Return git's reason without the folder's name."""
    if "dubious ownership" in words:
        return "git refuses a checkout that belongs to another user"
    if "not a git repository" in words:
        return "the folder is not a checkout"
    return "git cannot tell the revision"


def _git(root: Path, *arguments: str) -> str:
    # a hook's GIT_DIR would lead to another checkout, and a status that writes would disturb work going on
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


# Where the code that makes a run comes from (rule 14 of docs/methods.md): revision, locks, versions, digests.

PACKAGES = (
    "altair",
    "duckdb",
    "hdrhistogram",
    "jupytext",
    "nbclient",
    "nbconvert",
    "numpy",
    "polars",
    "psutil",
    "pyarrow",
    "pydantic",
    "scipy",
    "vl-convert-python",
)
"""Those that a result or a number in a report passes through."""

SYSTEMS_VARIABLE = "BENCHBOOK_NIX_SYSTEMS"
"""Names the flake's JSON file of system → store path."""

INPUTS_VARIABLE = "BENCHBOOK_NIX_INPUTS"
"""Names the flake's JSON file of the pinned nixpkgs that it used: pin → revision and narHash."""


def provenance(root: Path, benchload: Path | None = None) -> Facts:
    """Return the provenance of what runs from the checkout (or store path) at ``root``; never raises.

    ``benchload`` is the load tool, by default the one that ./bench or the flake names in BENCHBOOK_BENCHLOAD.
    Digests are ``sha256:<hex>``; None stands for a file that is absent.
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


def file_digest(path: Path) -> str | None:
    """Return the digest of a file, None where there is none."""
    try:
        with path.open("rb") as content:
            return f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}"
    except OSError:
        return None


def source_digest(package: Path) -> str:
    """Return one digest of all files of a package, by name and content; caches of Python do not count."""
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


def _benchload(given: Path | None) -> Facts:
    named = given or os.environ.get("BENCHBOOK_BENCHLOAD") or shutil.which("benchload")
    if not named:
        return {"version": None, "digest": None}
    return {"version": stated(_benchload_version, Path(named)), "digest": file_digest(Path(named))}


def _benchload_version(binary: Path) -> str:
    try:
        return str(json.loads(said([str(binary), "version"]))["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable("benchload states no version") from error


def _nix() -> Facts | None:
    """Return what the flake handed over; None where it did not start us."""
    file, own = os.environ.get(SYSTEMS_VARIABLE), os.environ.get(FLAKE_VARIABLE)
    if not file and not own:
        return None
    known: Facts = {"revision": own, "systems": stated(_json, file) if file else {}}
    if inputs := os.environ.get(INPUTS_VARIABLE):
        known["inputs"] = stated(_json, inputs)
    return known


def _json(file: str) -> Any:
    return json.loads(Path(file).read_text(encoding="utf-8"))
