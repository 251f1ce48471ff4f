"""Keys of pages: digests of everything that a page is made of. A page with the same key is not rendered again."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterable
from pathlib import Path

from benchbook.analyse import learned
from benchbook.analyse.run import MIX_VARIABLE
from benchbook.declare.checkout import layers
from benchbook.record import ledger, manifest
from benchbook.record.manifest import Export
from benchbook.site.index import Page

PACKAGE = Path(__file__).resolve().parents[1]
LOCK = PACKAGE.parent / "requirements.lock"
"""Pins the libraries that draw; absent where another tool pins them, such as Nix."""
DECLARED = ("systems", "storage", "datasets", "workloads", "experiments")
"""Folders of a checkout that pages read, beside the published runs."""
STATED = (ledger.WITHDRAWN, ledger.LEFT_OUT)
"""Files beside the runs of an experiment that say which of them count."""


def of(root: Path, pages: list[Page], found: list[Export], quarto: str | None) -> dict[str, str]:
    """Return page → key: its source and runs, and the code and declarations that all pages share."""
    shared = hashlib.sha256()
    shared.update(f"{platform.python_version()} {quarto or ''} {os.environ.get(MIX_VARIABLE, '')}".encode())
    _add(shared, PACKAGE, _files(PACKAGE, "*"))
    for layer in layers(root):
        for name in DECLARED:
            _add(shared, layer, _files(layer / name, "*"))
    stated = sorted(path for name in STATED for path in (root / ledger.DATA).glob(f"*/{name}"))
    _add(shared, root, [root / "CITATION.cff", root / learned.FILE, *stated])
    if quarto:
        _add(shared, root, sorted((root / "reports").glob("_*")))
    _add(shared, LOCK.parent, [LOCK])
    return {one.name: _key(shared.copy(), one, found) for one in pages}


def _key(shared: hashlib._Hash, one: Page, found: list[Export]) -> str:
    shared.update(f"{one.name}\0{one.title}\0".encode())
    _add(shared, one.source.parent, [one.source])
    for export in found:
        # A page about all runs shows each; the page of an experiment lists all its runs.
        if one.run_id is None or export.experiment == one.experiment:
            _add(shared, export.folder, [export.folder / manifest.FILE])
    return shared.hexdigest()


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.rglob(pattern) if "__pycache__" not in path.parts)


def _add(digest: hashlib._Hash, base: Path, paths: Iterable[Path]) -> None:
    """Add names and content of the files that exist."""
    for path in paths:
        if path.is_file():
            digest.update(f"{path.relative_to(base)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
