"""A workload is one object, and nothing else decides by its name."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import benchbook
from benchbook.declare import metric
from benchbook.declare import workload as registry
from benchbook.declare.experiment import Phase
from benchbook.declare.metric import describe, metrics
from benchbook.declare.workload import Metric, Options, Workload, having, workloads
from benchbook.errors import RequestError

WINGS = ("analyse", "cli", "workers", "process", "provision", "report", "run", "site", "storage", "systems")
PACKAGE = Path(benchbook.__file__).parent


def test_declarations_load_neither_wing() -> None:
    code = "import sys, benchbook.declare.workload as w; w.workloads(); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "benchbook.workloads.load" in loaded
    assert [name for name in loaded if name.startswith(tuple(f"benchbook.{wing}" for wing in WINGS))] == []


def test_each_workload_is_named_as_its_module() -> None:
    assert tuple(workloads())[: len(registry.MODULES)] == registry.MODULES
    assert [one.name for one in workloads().values()] == list(workloads())
    assert len({one.options for one in workloads().values()}) == len(workloads())


def test_each_metric_is_declared_once() -> None:
    shared = [one.name for one in metric.SHARED]
    own = [one.name for held in workloads().values() for one in held.metrics if isinstance(one, Metric)]
    assert len({*shared, *own}) == len([*shared, *own])
    for one in workloads().values():
        named = {name for name in one.metrics if isinstance(name, str)}
        assert named <= set(shared), one.name
        rates = (one.rate.metric, one.rate.operations) if one.rate else ()
        assert {*one.compared, *rates} <= set(metrics(one.name) or ()), one.name


def test_each_workload_compares_a_main_metric_that_has_a_direction() -> None:
    for one in workloads().values():
        assert one.compared, one.name
        assert {describe(name).direction for name in one.compared} <= {"higher", "lower"}, one.name
        assert any(describe(name).main for name in one.compared), one.name


class TurnOptions(Options):
    turns: int = 1


@pytest.fixture
def turning(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    own = Metric("turns_per_second", "1/s", "higher", "Turns per second", "turns")
    made = Workload(
        "turn", TurnOptions, lambda *_: None, ("errors", own), compared=("turns_per_second",), loads=True
    )
    monkeypatch.setitem(sys.modules, "benchbook.workloads.turn", SimpleNamespace(workload=made))  # type: ignore[arg-type]
    monkeypatch.setattr(registry, "MODULES", (*registry.MODULES, "turn"))
    caches = (registry._workloads, metric.table, metric.describe)
    for cache in caches:
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("turning")
def test_a_module_and_its_line_are_a_workload() -> None:
    phase = Phase.model_validate({"name": "t", "workload": "turn", "options": {"turns": 2}})
    assert phase.replaced({"turns": 3}) == TurnOptions(turns=3)
    with pytest.raises(RequestError, match="turn"):
        phase.typed({"turn": 3})
    assert {"errors", "turns_per_second", "client_cpu_seconds"} <= set(metrics("turn") or ())
    assert describe("turns_per_second").noun == "turns"
    assert having(lambda one: one.loads) == ["load", "turn"]


def decisions(text: str) -> list[str]:
    """Return the expressions that compare a workload with a name, or ask for the phases of one by its name."""
    found = []
    known = set(workloads())
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Compare | ast.Call):
            continue
        if not any(isinstance(one, ast.Constant) and one.value in known for one in ast.walk(node)):
            continue
        shown = ast.unparse(node)
        compares = isinstance(node, ast.Compare) and "workload" in shown
        if compares or (isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".phases")):
            found.append(shown)
    return found


def test_nothing_else_decides_by_the_name_of_a_workload() -> None:
    assert decisions('if phase["workload"] == "load": run.phases("query")') == [
        "phase['workload'] == 'load'", "run.phases('query')",
    ]  # fmt: skip
    files = [file for file in PACKAGE.rglob("*.py") if file.parent.name != "workloads"]
    found = {str(file.relative_to(PACKAGE)): decisions(file.read_text(encoding="utf-8")) for file in files}
    assert {file: held for file, held in found.items() if held} == {}
