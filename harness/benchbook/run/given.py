"""What a trial may ask of a server that already runs: Benchbook changes neither its configuration nor its storage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchbook.declare.storage import Storage
from benchbook.declare.system import System
from benchbook.errors import Unavailable
from benchbook.process.launch import Program

AS_INSTALLED = "vanilla"
"""The configuration that asks for nothing: the server is as the user started it."""
ANY_PLACE = "local"
"""The storage driver that asks for nothing."""


def require_as_it_is(program: Program, system: System, storage: Storage, levels: Mapping[str, Any]) -> None:
    """Raise Unavailable if a trial needs another configuration or storage than that of a running server."""
    if program.url is None:
        return
    base, arm = system.arms.get(AS_INSTALLED), system.arms[str(levels["arm"])]
    default = base.settings if base else {}
    settings = arm.settings_at(levels)
    if changed := sorted(key for key in {**default, **settings} if default.get(key) != settings.get(key)):
        raise Unavailable(
            f"The configuration {levels['arm']} sets {', '.join(changed)}, which does not apply to {system.name}: it "
            f"already runs at {program.url}.",
            f"Let Benchbook start it (leave out --system), or choose --set arm={AS_INSTALLED}.",
        )
    if storage.driver != ANY_PLACE:
        raise Unavailable(
            f"The storage {storage.name} does not apply to {system.name}, which already runs at {program.url} "
            "with its own storage.",
            f"Let Benchbook start it (leave out --system), or choose --set storage={ANY_PLACE}.",
        )
