"""``bench doctor --strict`` refuses a machine that does not control what disturbs measurements."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.cli.app import run
from benchbook.host.controls import Control

LOOSE = Control("turbo", "not controlled", "on", "off", "Switch turbo off in the firmware.")
HELD = Control("governor", "controlled", "performance", "performance", "")


def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, controls: list[Control], *flags: str) -> int:
    monkeypatch.setattr("benchbook.host.controls.checks", lambda _: controls)
    return run(["doctor", "--results", str(tmp_path), *flags])


def test_strict_refuses_and_names_what_is_loose(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(monkeypatch, tmp_path, [HELD, LOOSE], "--strict") == 2
    assert "1 of 2 things are not controlled on this machine: turbo." in " ".join(
        capsys.readouterr().err.split()
    )


def test_without_strict_and_on_a_still_machine_it_only_shows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert asked(monkeypatch, tmp_path, [HELD, LOOSE]) == 0
    assert asked(monkeypatch, tmp_path, [HELD], "--strict") == 0
