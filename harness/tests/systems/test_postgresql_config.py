"""What is added to PostgreSQL's own configuration, and what an arm may not set."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems.postgresql import check_known, text

DESCRIBED = "synchronous_commit\tuser\tWAL\nshared_buffers\tpostmaster\tMemory\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Make a program that describes two settings."""
    (tmp_path / "described").write_text(DESCRIBED)
    made = tmp_path / "postgres"
    made.write_text(f'#!/bin/sh\n[ "$1" = --describe-config ] && cat "{tmp_path}/described"\n')
    made.chmod(0o755)
    return made


def test_only_differences_are_written_and_the_port_is_no_part_of_them() -> None:
    written = text("127.0.0.1", "{port}", {"synchronous_commit": "off", "fsync": True, "max_connections": 9})
    assert "port = {port}\n" in written
    assert "fsync = on\n" in written
    assert "max_connections = 9\n" in written
    assert "synchronous_commit = 'off'\n" in written


def test_a_quote_in_a_value_stays_in_it() -> None:
    assert "log_line_prefix = 'it''s'" in text("127.0.0.1", "1", {"log_line_prefix": "it's"})


def test_a_setting_that_the_server_knows_passes(program: Path) -> None:
    check_known(program, {"shared_buffers": "1GB"})
    check_known(Path("/nowhere"), {})


def test_a_misspelled_setting_is_refused_with_the_nearest(program: Path) -> None:
    with pytest.raises(TrialFailed, match='no setting "synchronous_comit"') as caught:
        check_known(program, {"synchronous_comit": "off"})
    assert 'Did you mean "synchronous_commit"?' in caught.value.hint


def test_what_the_harness_sets_is_refused(program: Path) -> None:
    with pytest.raises(TrialFailed, match='The arm sets "port"'):
        check_known(program, {"port": 5432})
