"""A server of a declared system, started for a test and ended after it; or taken as one that runs already."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchbook.declare.system import System
from benchbook.errors import Unavailable
from benchbook.process.launch import Program
from benchbook.provision.find import find
from benchbook.provision.request import Request
from benchbook.systems.driver import Place

ROOT = Path(__file__).resolve().parents[3]


def declared(name: str) -> System:
    return System.model_validate(tomllib.loads((ROOT / "systems" / f"{name}.toml").read_text()))


def found(system: System) -> Program:
    """Return the system's program; skip the test, by its reason, where there is none."""
    try:
        return find(system, Request())
    except Unavailable as reason:
        pytest.skip(str(reason))


def place(program: Program, arm: str, system: System, folder: Path, **options: Any) -> Place:
    """Return where the arm of a system runs, in the folders of one trial, which are there."""
    return Place(
        program, arm, dict(system.arms[arm].settings),
        folder / "data", folder / "config", folder / "logs", processes=folder / "processes", **options,
    )  # fmt: skip


@contextmanager
def started(server: Any, *, within_seconds: int) -> Iterator[Any]:
    """Start a configured server and wait until it answers; end it, and see that no process of it is left."""
    try:
        server.start()
        wait_until_ready(server, within_seconds)
        yield server
    finally:
        server.stop()
    assert list(server.place.processes.iterdir()) == []


def wait_until_ready(server: Any, within_seconds: int) -> None:
    for _ in range(100 * within_seconds):
        if server.ready():
            return
        time.sleep(0.01)
    pytest.fail(f"the server did not answer in {within_seconds} s")


def running_already(server: Any, driver: Callable[[Place], Any]) -> Any:
    """Return a driver that was given the address of a server alone, with its database ``elsewhere`` made."""
    given = replace(server.place.program, path=None, url=server.url)
    there = driver(replace(server.place, program=given, databases=("elsewhere",)))
    assert there.configure() == {}
    there.start()
    assert there.ready()
    assert there.processes() == []
    there.prepare()
    return there
