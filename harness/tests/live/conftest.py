"""Makes the helpers of this folder importable under pytest's importlib mode."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build what many tests start before the first of them: on an empty cache, that takes longer than a test may."""
    if session.config.getoption("--all") and not session.config.option.collectonly:
        from built import build_all

        build_all()


@pytest.fixture
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A null server behind a proxy that delays and cuts."""
    from proxy import running

    yield from running(tmp_path_factory.mktemp("proxy"))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Make a folder that a server's own user may enter: pytest's folders are closed to other users."""
    with tempfile.TemporaryDirectory(prefix="benchbook-live-") as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.fixture
def folder(open_folder: Path) -> Path:
    """Make a trial's folders where a server's own user may enter, under a path that a server must quote."""
    made = open_folder / "a b" / "ü"
    for name in ("data", "config", "logs"):
        (made / name).mkdir(parents=True)
    return made
