"""Plug-ins of experiments: found by name in this checkout, and what their errors say."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbook.declare import plugin
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.checkout import root
from benchbook.errors import RequestError


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of the experiment ``mine`` in a checkout that has nothing else."""
    folder = tmp_path / "experiments" / "mine"
    folder.mkdir(parents=True)
    (folder / "experiment.toml").write_text("")
    monkeypatch.setenv("BENCHBOOK_ROOT", str(tmp_path))
    yield folder
    plugin._imported.cache_clear()
    for name in [name for name in sys.modules if name.startswith(f"{plugin.PACKAGE}.mine")]:
        del sys.modules[name]


def test_a_file_adds_its_objects_and_imports_those_beside_it(mine: Path) -> None:
    (mine / "beside.py").write_text("ONE = 1\n")
    (mine / "engine.py").write_text("from .beside import ONE\n\nengines = {'one': ONE}\n")
    assert plugin.own("mine", "engine") == {"one": 1}
    assert plugin.every("engine", ["duckdb"]) == {"one": 1}
    assert plugin.own("mine", "driver") == {}
    assert plugin.imported(f"{plugin.PACKAGE}.mine.beside").ONE == 1
    assert plugin.imported("benchbook.declare.plugin") is plugin


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1", "engine.py does not set engines, a dict"),
        ("engines = [1]", "engine.py does not set engines, a dict"),
        ("engines = {", "engine.py cannot be imported: SyntaxError: '{' was never closed"),
        ("import nothing_of_the_kind", "engine.py cannot be imported: ModuleNotFoundError"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_once_it_is_needed(mine: Path, text: str, says: str) -> None:
    (mine / "engine.py").write_text(text)
    with pytest.raises(RequestError) as raised:
        plugin.own("mine", "engine")
    assert f"experiments/mine/{says}" in raised.value.message
    assert plugin.every("engine", []) == {}


def test_a_broken_workload_is_an_error_of_its_experiment_alone(mine: Path) -> None:
    (mine / "workload.py").write_text("1 / 0")
    with pytest.raises(RequestError, match=r"mine/workload\.py cannot be imported: ZeroDivisionError"):
        Catalogue().experiment("mine")


def test_a_name_has_one_meaning(mine: Path) -> None:
    other = mine.with_name("other")
    other.mkdir()
    for folder in (mine, other):
        (folder / "experiment.toml").write_text("")
        (folder / "engine.py").write_text("engines = {'one': 1}")
        (folder / "driver.py").write_text(f"drivers = {{'redis': '{folder.name}'}}")
    with pytest.raises(
        RequestError, match=r'other/engine\.py: experiments/mine/engine\.py also has the engine "one"'
    ):
        plugin.every("engine", [])
    with pytest.raises(RequestError, match=r'mine/engine\.py: Benchbook also has the engine "one"'):
        plugin.every("engine", ["one"])
    assert plugin.every("driver", ["redis"]) == {}
    assert plugin.own("other", "driver") == {"redis": "other"}


@pytest.mark.parametrize("slug", ["../elsewhere", "..", "", ".", "mine/../../elsewhere"])
def test_only_experiments_of_the_checkout_have_plug_ins(mine: Path, slug: str) -> None:
    elsewhere = mine.parents[1] / "elsewhere"
    elsewhere.mkdir()
    for folder in (elsewhere, mine.parent, mine.parents[1]):
        (folder / "engine.py").write_text("raise SystemExit")
    assert plugin.module(slug, "engine") is None
    assert plugin.every("engine", []) == {}


def test_a_file_that_leads_out_of_its_folder_is_refused(mine: Path) -> None:
    (mine.parent / "outside.py").write_text("raise SystemExit")
    (mine / "engine.py").symlink_to("../outside.py")
    with pytest.raises(RequestError, match=r"mine/engine\.py leads out of its folder"):
        plugin.own("mine", "engine")


def test_naming_an_experiment_imports_none_of_its_files() -> None:
    code = "import sys; from benchbook.__main__ import main; sys.argv = ['bench', 'list']\ntry: main()\n"
    code += "except SystemExit: pass\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [name for name in done.stdout.split() if name.startswith(plugin.PACKAGE)] == []


GROUND = {"errors", "declare", "measure", "plan", "record", "host"}
RUNNING = {"process", "storage", "systems", "workers", "provision", "run", "workloads"}
READING = {"analyse", "report", "site"}
AT_TOP = {
    "workload": GROUND | {"workloads"},
    "dataset": GROUND,
    "driver": GROUND | {"process", "storage", "systems"},
    "engine": GROUND | {"process", "workers"},
    "story": GROUND | READING,
}
"""Kind of file → the packages that it and the files that it imports may import at their top."""


def imports(text: str, *, top: bool) -> Iterator[tuple[str, int]]:
    """Yield the modules that a text imports, and how many dots they have, also in functions unless ``top``."""
    tree = ast.parse(text)
    for node in tree.body if top else ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = [node.module] if node.module else [one.name for one in node.names]
            yield from ((str(name), node.level) for name in names)
        elif isinstance(node, ast.Import):
            yield from ((one.name, 0) for one in node.names)


def packages(file: Path, *, top: bool) -> set[str]:
    """Return the packages of Benchbook that a file and those beside it that it imports import."""
    found: set[str] = set()
    for name, level in imports(file.read_text(encoding="utf-8"), top=top):
        if level:
            found |= packages(file.with_name(f"{name}.py"), top=top)
        elif name.startswith("benchbook."):
            found.add(name.split(".")[1])
    return found


@pytest.mark.parametrize("kind", AT_TOP)
def test_plug_ins_keep_the_order_of_the_packages(kind: str) -> None:
    files = sorted((root() / "experiments").glob(f"*/{kind}.py"))
    other = RUNNING if kind == "story" else READING
    for file in files:
        assert packages(file, top=True) <= AT_TOP[kind], file
        assert not packages(file, top=False) & other, file
