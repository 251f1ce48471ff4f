"""Removal of the containers and networks that a killed harness left in an engine."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from benchbook.process import containers


def test_a_container_that_ends_while_they_are_listed_hides_no_other() -> None:
    """The engine's client lists names, then asks for each; a name may be gone by then."""
    removed: list[str] = []

    def listed(*, ignore_removed: bool = False, **asked: Any) -> list[Any]:
        if not ignore_removed:
            raise LookupError("No such container")
        return [SimpleNamespace(name="server", remove=lambda **how: removed.append("server"))]

    network = SimpleNamespace(name="net", remove=lambda: removed.append("net"))
    engine: Any = SimpleNamespace(
        containers=SimpleNamespace(list=listed), networks=SimpleNamespace(list=lambda **asked: [network])
    )
    assert containers._clear(engine, "trial") == 1
    assert removed == ["server", "net"]
