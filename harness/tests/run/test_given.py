"""A server that already runs has one configuration and one storage, which Benchbook does not change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchbook.declare.catalogue import Catalogue, root
from benchbook.errors import Unavailable
from benchbook.process.launch import Program
from benchbook.run.given import require_as_it_is

RUNNING = Program(
    system="influxdb-1.8.10", version="1.8.10", source="url", path=None, url="http://127.0.0.1:8086"
)


def required(
    system: str = "influxdb-1.8.10", arm: str = "vanilla", storage: str = "local", **levels: object
) -> None:
    catalogue = Catalogue(root())
    require_as_it_is(
        replace(RUNNING, system=system),
        catalogue.system(system),
        catalogue.storage(storage),
        {"system": system, "arm": arm, "storage": storage, **levels},
    )


def test_a_running_server_is_tested_as_it_is() -> None:
    required()
    required(arm="published")  # no settings either
    required(system="seaweedfs-4")  # whose vanilla configuration has settings
    required(system="seaweedfs-4", volumes=7)


def test_what_would_have_to_be_applied_to_a_running_server_is_unavailable() -> None:
    with pytest.raises(
        Unavailable, match=r"tuned sets data.index-version, .* which does not apply to influxdb-1.8.10"
    ):
        required(arm="tuned")
    with pytest.raises(
        Unavailable, match=r"storage tmpfs does not apply to influxdb-1.8.10, which already runs at http:"
    ):
        required(storage="tmpfs")
    with pytest.raises(Unavailable, match="vanilla sets volumes, which does not apply"):
        required(system="seaweedfs-4", volumes=2)


def test_a_server_that_benchbook_starts_takes_all(tmp_path: Path) -> None:
    catalogue, started = Catalogue(root()), replace(RUNNING, path=tmp_path / "influxd", url=None)
    levels = {"arm": "tuned", "storage": "tmpfs"}
    require_as_it_is(started, catalogue.system("influxdb-1.8.10"), catalogue.storage("tmpfs"), levels)
