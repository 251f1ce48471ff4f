"""The table of systems: what a command is."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.site import systems


def test_a_command_is_a_system_with_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "systems").mkdir()
    (tmp_path / "systems" / "own-gzip.toml").write_text(
        'name = "own-gzip"\ntitle = "Own gzip"\n[source]\ncommand = "gzip -c {file}"\nversion_command = "gzip -V"\n'
    )
    monkeypatch.setattr(systems, "Catalogue", lambda: Catalogue(tmp_path))
    assert systems.pins().rows == [
        ["Own gzip", "any", "command", "on PATH: gzip", "not stated"],
    ]
