"""Passwords come from one module and appear in no stored file, whatever a server prints."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import benchbook
from benchbook.declare.checkout import root
from benchbook.process import secret
from benchbook.process.launch import Program
from benchbook.systems import driver
from benchbook.systems.driver import Place

SOURCE = Path(benchbook.__file__).parent
OTHERWISE = {"plan/plan.py", "process/containers.py", "process/secret.py"}
"""Modules that draw random values other than passwords: seeds and names."""


@pytest.fixture(autouse=True)
def nothing_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret, "_drawn", set())
    for name in secret.VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_a_password_is_drawn_nowhere_else() -> None:
    """Otherwise the password would not be redacted."""
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Import) and any(one.name == "secrets" for one in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "secrets")
    }
    assert found == OTHERWISE


def test_every_variable_that_a_driver_reads_a_password_from_is_known() -> None:
    names = {
        node.value
        for place in (SOURCE / "systems", SOURCE / "workers", *(root() / "experiments").iterdir())
        for path in place.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.isupper()
        and node.value.isidentifier()
        and ("PASSWORD" in node.value or "SECRET" in node.value)
    }
    told = {"MINIO_ROOT_PASSWORD", "ORACLE_PASSWORD"}  # what we tell a server, drawn by us
    assert names - told <= set(secret.VARIABLES)
    assert "PGPASSWORD" in names


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("postgresql", lambda made: made._password),
        ("minio", lambda made: made.s3.secret_key),
        ("seaweedfs", lambda made: made.s3.secret_key),
        ("oracle", lambda made: made._password),
    ],
)
def test_each_system_that_has_one_draws_its_own_for_every_trial(name, held, tmp_path: Path) -> None:
    place = Place(
        Program(name, "1", "given", path=Path("/bin/true")), "vanilla", {}, tmp_path, tmp_path, tmp_path
    )
    first, second = (held(driver.driver(name, place)) for _ in range(2))
    assert first != second
    assert {first, second} <= set(secret.known())
    assert min(len(first), len(second)) > 16


def test_what_is_kept_is_searched_and_text_and_bytes_are_replaced(tmp_path: Path) -> None:
    drawn = secret.draw()
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/server.log").write_bytes(b"\xff started with KEY=" + drawn.encode() + b"\n")
    (tmp_path / "events.jsonl").write_text('{"type":"summary"}\n')
    assert [path.name for path in secret.redact_files(tmp_path)] == ["server.log"]
    assert (tmp_path / "logs/server.log").read_bytes() == b"\xff started with KEY=(password)\n"
    assert secret.redact_files(tmp_path) == []
    assert secret.redact({"reason": f"refused {drawn}", "n": [1, drawn, None]}) == {
        "reason": "refused (password)",
        "n": [1, "(password)", None],
    }


def test_what_was_given_in_the_environment_is_a_password_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "correct horse")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "short")
    assert secret.known() == ["correct horse"]
