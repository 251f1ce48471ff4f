"""The digest of a program, which stands with every result."""

from __future__ import annotations

import hashlib
from pathlib import Path


def of(file: Path) -> str:
    """Return ``sha256:<hex>`` of a file's bytes."""
    with file.open("rb") as content:
        return f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}"
