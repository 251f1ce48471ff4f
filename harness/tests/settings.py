"""Settings and fixtures of all tests, here and in the folders of experiments; ``pyproject.toml`` loads them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.web import Web, serving

if TYPE_CHECKING:
    from benchbook.analyse.run import Run

# A property test does not fail for being slow on a busy machine.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


SLOW_FOLDERS = ("live", "browser", "nix")
"""Folders of tests that start servers, a browser or Nix."""
QUICK_FILES = ("test_run.py", "test_influxdb1.py", "test_embedded.py")
"""The live tests that every change runs: a whole run, one server, the embedded systems."""


NIGHTLY = "BENCHBOOK_FULL"
"""Variable with which ``.ci/full`` asks for the tests that take a minute each, or whose files take minutes."""

NIGHTLY_FILES = (
    "test_control_groups_v2.py", "test_dask.py", "test_faults.py", "test_machines.py", "test_many_kills.py",
    "test_object_results.py", "test_spark.py", "test_storage_death.py", "test_surroundings.py", "test_until_decided.py",
    "test_wheel.py",
)  # fmt: skip
"""Live tests that take minutes: hangs, kills, clusters, other kernels, JVMs, installations, runs until an answer."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all", action="store_true", help="Run slow tests too: servers, browser, Nix, kills, fuzz."
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests out, unless --all is given or a file is named; files with slow ones come first.

    Side by side, a long file that begins last would run alone.
    """
    folder = Path(__file__).parent
    for item in items:
        slow = any(item.path.is_relative_to(folder / name) for name in SLOW_FOLDERS)
        if slow and item.path.name not in QUICK_FILES:
            item.add_marker("slow")
        if item.path.name in NIGHTLY_FILES and item.path.is_relative_to(folder / "live"):
            item.add_marker("nightly")
    long = {item.path for item in items if "slow" in item.keywords}
    items.sort(key=lambda item: item.path not in long)
    named = any(argument.endswith(".py") or "::" in argument for argument in config.invocation_params.args)
    if named:
        return
    left_out = {"slow"} if not config.getoption("--all") else set()
    left_out |= {"nightly"} if not os.environ.get(NIGHTLY) else set()
    dropped = [item for item in items if not left_out.isdisjoint(item.keywords)]
    config.hook.pytest_deselected(items=dropped)
    items[:] = [item for item in items if left_out.isdisjoint(item.keywords)]


@pytest.fixture(scope="session", autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the user's state: no test writes into the real one."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        yield folder


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as server:
        yield server


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Run]:
    """Return a function that writes a synthetic run with the given options into a database and opens it."""
    from benchbook.analyse.run import open_run
    from tests.record import synthetic_run

    def make(**options: Any) -> Run:
        results = tmp_path / "results"
        run_id = synthetic_run.write(results, database=True, **{"telemetry_seconds": 4, **options})
        return open_run(results, run_id)

    return make


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """An ordinary run of two embedded systems and three blocks, for tests that only read it."""
    from benchbook.analyse.run import open_run
    from tests.record import synthetic_run

    results = tmp_path_factory.mktemp("plain") / "results"
    return open_run(results, synthetic_run.write(results, database=True, telemetry_seconds=4))
