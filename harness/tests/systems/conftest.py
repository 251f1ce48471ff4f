"""Doubles for drivers: places whose programs are scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchbook.process.launch import Program
from benchbook.systems.driver import Place


@pytest.fixture
def embedded(place: Callable[..., Place]) -> Iterator[Callable[..., Any]]:
    """Return a maker of embedded systems that are configured and started; they stop after the test."""
    made = []

    def make(driver: Any, name: str, version: str, settings: dict[str, Any]) -> Any:
        made_at = place(name, version, settings=settings)
        one = driver(replace(made_at, program=replace(made_at.program, path=None)))
        made.append(one)
        one.configure()
        one.start()
        return one

    yield make
    for one in made:
        one.stop()


@pytest.fixture
def place(tmp_path: Path) -> Callable[..., Place]:
    """Return a maker of places: of an external server by ``url``, or of a program that is a shell script."""

    def make(
        name: str, version: str = "1.0", script: str = "", url: str | None = None, **options: Any
    ) -> Place:
        for folder in ("data", "config", "logs", "bin"):
            (tmp_path / folder).mkdir(exist_ok=True)
        path = None
        if url is None:
            path = tmp_path / "bin" / name
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
        settings = options.pop("settings", {})
        return Place(
            Program(name, version, "given", path=path, url=url), options.pop("arm", "vanilla"), settings,
            tmp_path / "data", tmp_path / "config", tmp_path / "logs", processes=tmp_path / "processes", **options,
        )  # fmt: skip

    return make
