"""The tests of Go that ``./bench test`` starts."""

import tempfile
from pathlib import Path

import pytest

from benchbook.cli import test as command

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("proxy", "clients"), [("https://proxy.example.org", True), ("off", False)])
def test_the_modules_of_go_are_benchload_and_the_clients_of_experiments(monkeypatch, proxy, clients):
    started = []
    monkeypatch.setattr(
        command.subprocess, "Popen", lambda arguments, cwd, **_: started.append((arguments[1:], cwd))
    )
    monkeypatch.setenv("BENCHBOOK_GO", "/go")
    monkeypatch.setenv("GOPROXY", proxy)
    with tempfile.TemporaryFile() as output:
        command._start_go(ROOT / "harness", output)
    modules = [ROOT / "harness" / "benchload"]
    if clients:  # Nix's copy of the tests has the libraries of benchload alone
        named = ("influx-local-vs-s3fs", "kline-mysql-vs-kv")
        modules += [ROOT / "experiments" / name / "client" for name in named]
    assert started == [(["test", "./..."], module) for module in modules]
