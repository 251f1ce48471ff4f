"""Small systems and programs for the tests of provision."""

import stat

import pytest

from benchbook.declare.system import System

ARMS = {
    "vanilla": {
        "description": "as installed",
        "durability": {"fsync": "yes", "wal": "yes", "replication": "none", "compression": "none"},
    }
}


def system(**changes):
    """Make a server's declaration; it has every source but Python."""
    declared = {
        "name": "serverd-1.8",
        "title": "Server 1.8",
        "driver": "serverd",
        "version": "1.8.10",
        "license": "MIT",
        "homepage": "https://example.org",
        "arms": ARMS,
        "source": {
            "nix": {"pin": "historic", "attribute": "serverd", "program": "serverd"},
            "docker": {"image": "serverd:1.8.10"},
            "host": {
                "program": "serverd",
                "version_command": ["{program}", "version"],
                "version_pattern": "Server v(\\S+)",
            },
            "go": {"package": "example.org/serverd", "program": "serverd", "ldflags": "-X v={version}"},
        },
    }
    return System.model_validate(declared | changes)


@pytest.fixture
def server_system():
    return system()


@pytest.fixture
def embedded_system():
    return system(
        name="duckdb", embedded=True, version="1", match="series", source={"python": {"package": "duckdb"}}
    )


@pytest.fixture
def program(tmp_path):
    """Return a maker of programs that report a version."""

    def make(version, folder=tmp_path / "programs", name="serverd"):
        folder.mkdir(parents=True, exist_ok=True)
        return executable(folder / name, f"#!/bin/sh\necho Server v{version}\n")

    return make


def executable(path, text):
    """Write a script and make it executable."""
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
