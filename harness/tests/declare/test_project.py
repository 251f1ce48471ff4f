"""Projects: which folder is one, what is layered over what, and what is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbook.declare import checkout, plugin, project
from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError
from benchbook.record.rerun import rerun
from benchbook.systems import driver

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a project, in which this process works; one system of it hides a built-in one."""
    monkeypatch.setenv(checkout.ROOT_VARIABLE, str(ROOT))
    monkeypatch.setenv(checkout.PROJECT_VARIABLE, "")
    folder = tmp_path / "mine"
    (folder / "systems").mkdir(parents=True)
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / checkout.FILE).write_text('name = "mine"\n')
    text = (ROOT / "systems" / "sqlite.toml").read_text()
    (folder / "systems" / "sqlite.toml").write_text(text.replace('title = "SQLite"', 'title = "My SQLite"'))
    (folder / "systems" / "other.toml").write_text(text.replace('name = "sqlite"', 'name = "other"'))
    shutil.copytree(ROOT / "experiments" / "quickstart", folder / "experiments" / "own")
    monkeypatch.chdir(folder / "deep" / "er")
    return folder


def test_the_nearest_folder_with_the_file_is_the_project(mine: Path) -> None:
    assert checkout.root() == mine
    assert checkout.layers() == (mine, ROOT)
    assert checkout.results() == mine / "results"
    (mine / "deep" / checkout.FILE).write_text('name = "inner"\n')
    assert checkout.root() == mine / "deep"
    assert project.enter() == [f"the project is {mine / 'deep'}; {mine}, a project around it, does not count"]
    assert os.environ[checkout.PROJECT_VARIABLE] == str(mine / "deep")


def test_declarations_of_the_project_come_first(mine: Path) -> None:
    catalogue = Catalogue()
    assert {"own", "quickstart"} <= set(catalogue.names("experiment"))
    assert catalogue.system("sqlite").title == "My SQLite"
    assert catalogue.system("other").driver == "sqlite"
    assert catalogue.layer("system", "sqlite") == catalogue.layer("experiment", "own") == mine
    assert catalogue.layer("system", "duckdb") == ROOT
    assert list(project.hidden()) == [("system", "sqlite")]
    assert project.enter() == ["this project hides the built-in system sqlite with its own"]


def test_the_published_numbers_are_those_beside_the_experiment(mine: Path) -> None:
    assert Catalogue().published("own") == mine / "datasets" / "published"
    assert Catalogue().published("cnos-vs-influx") == ROOT / "datasets" / "published"
    assert Catalogue().experiment("cnos-vs-influx").claims


def test_an_equal_copy_of_a_declaration_hides_nothing(mine: Path) -> None:
    shutil.copy(ROOT / "systems" / "sqlite.toml", mine / "systems" / "sqlite.toml")
    assert project.enter() == []


def test_another_checkout_of_benchbook_is_no_project_of_this_one(mine: Path) -> None:
    (mine / checkout.FILE).write_text('name = "benchbook"\n')
    assert checkout.root() == ROOT
    assert project.enter() == []


def test_without_the_file_the_checkout_counts(mine: Path) -> None:
    (mine / checkout.FILE).unlink()
    assert checkout.layers() == (ROOT,)
    assert checkout.results() == Path("results")
    assert not checkout.is_apart()


def test_outside_of_a_project_that_of_the_flake_counts(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = mine.with_name("stored")
    shutil.copytree(mine, stored)
    monkeypatch.setenv(checkout.FLAKE_VARIABLE, str(stored))
    monkeypatch.setenv(project.FLAKE_REVISION_VARIABLE, "abc-dirty")
    assert checkout.root() == mine
    (mine / checkout.FILE).unlink()
    monkeypatch.setattr(os, "geteuid", lambda: stored.stat().st_uid + 1)
    assert project.enter() == ["this project hides the built-in system sqlite with its own"]
    assert checkout.layers() == (stored, ROOT)
    assert checkout.results() == Path("results")
    stated = project.identity()
    assert stated is not None
    assert (stated["name"], stated["git_revision"], stated["git_dirty"]) == ("mine", "abc", True)
    monkeypatch.delenv(project.FLAKE_REVISION_VARIABLE)
    assert project.identity() == {
        **stated, "git_revision": None, "git_dirty": None,
        "git_detail": "the flake has none: a copy, a checkout with changes, or one whose inputs were overridden",
    }  # fmt: skip


def test_a_working_directory_that_was_removed_is_in_no_project(mine: Path) -> None:
    (mine / "deep" / "er").rmdir()
    assert checkout.root() == ROOT


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('name = "mine"\nrequires = ">=0.2"', 'requires = ">=0.2", but this is Benchbook 0.1.0'),
        ('name = "mine"\nrequires = "0.1"', 'requires = "0.1": this is not of the form'),
        ('name = "mine"\nrequire = ">=0.1"', 'there is no key "require"; allowed: name, requires'),
        ('name = "My project"', 'name = "My project": may have only lower-case letters'),
        ("requires = '>=0.1'", "the key name is missing"),
        ('name = "', "is not valid TOML"),
    ],
)
def test_a_project_that_cannot_be_used_is_refused(mine: Path, text: str, says: str) -> None:
    (mine / checkout.FILE).write_text(text)
    with pytest.raises(RequestError) as raised:
        project.enter()
    assert raised.value.message.startswith(str(mine / checkout.FILE))
    assert says in raised.value.message


@pytest.mark.parametrize("requires", [">=0.1", ">=0.1.0", ">= 0", ">=0.0.9"])
def test_a_project_of_this_or_an_older_version_is_entered(mine: Path, requires: str) -> None:
    (mine / "systems" / "sqlite.toml").unlink()
    (mine / checkout.FILE).write_text(f'name = "mine"\nrequires = "{requires}"')
    assert project.enter() == []


def test_a_project_of_another_user_is_refused_unless_it_is_named(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: mine.stat().st_uid + 1)
    with pytest.raises(RequestError, match="belongs to another user") as raised:
        project.enter()
    assert raised.value.hint == f"If you trust it, name it: export BENCHBOOK_PROJECT={mine}"
    monkeypatch.setenv(checkout.PROJECT_VARIABLE, str(mine))
    assert len(project.enter()) == 1


@pytest.fixture
def loaded(mine: Path) -> Iterator[Path]:
    """Return the project without what earlier tests imported of another one."""
    for cached in (plugin._imported, driver._added_by):
        cached.cache_clear()
    yield mine
    for cached in (plugin._imported, driver._added_by):
        cached.cache_clear()
    for name in [name for name in sys.modules if name.startswith(plugin.PROJECT)]:
        del sys.modules[name]


DRIVER = """from benchbook.systems.python_worker import EmbeddedDriver
from ._part import TITLE


class Other(EmbeddedDriver):
    engine = "other"
    title = TITLE


drivers = {"other": Other}
"""


def test_drivers_and_engines_of_a_project_serve_every_experiment(loaded: Path) -> None:
    systems = loaded / "systems"
    (systems / "_part.py").write_text('TITLE = "Other"\n')
    (systems / "other.py").write_text(DRIVER)
    (systems / "other_engine.py").write_text('engines = {"other": print}\n')
    assert driver.driver_class("other").title == "Other"
    assert "other" in driver.names()
    assert plugin.every("engine", [])["other"] is print
    assert plugin.imported(f"{plugin.PROJECT}.systems.other_engine").engines == {"other": print}
    assert list(plugin.digests("own")) == ["systems/_part.py", "systems/other.py", "systems/other_engine.py"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\n", "systems/other.py does not set drivers or engines"),
        ("drivers = [1]\n", "systems/other.py does not set drivers, a dict"),
        (
            "drivers = {\n",
            "systems/other.py cannot be imported: SyntaxError: '{' was never closed (other.py, line 1)",
        ),
        (
            "\n\n1 / 0\ndrivers = {}\n",
            "cannot be imported: ZeroDivisionError: division by zero, at other.py line 3",
        ),
        (
            "class Other:\n    pass\n\ndrivers = {'other': Other}\n",
            "other.py:1, lacks client, configure, count",
        ),
        ("drivers = {'other': print}\n", 'The driver "other", <built-in function print>, is not a class'),
        ("drivers = {'sqlite': print}\n", 'systems/other.py: Benchbook also has the driver "sqlite"'),
    ],
)
def test_a_broken_driver_is_one_sentence_that_names_the_place(loaded: Path, text: str, says: str) -> None:
    (loaded / "systems" / "other.py").write_text(text)
    with pytest.raises(RequestError) as raised:
        driver.driver_class("other")
    assert says in raised.value.message


def test_a_driver_that_leads_out_of_the_project_is_refused(loaded: Path) -> None:
    (loaded / "elsewhere.py").write_text("raise SystemExit")
    (loaded / "systems" / "other.py").symlink_to("../elsewhere.py")
    with pytest.raises(RequestError, match=r"systems/other\.py leads out of its folder"):
        driver.driver_class("other")


def git(folder: Path, *words: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    author = ("-c", "user.name=t", "-c", "user.email=t@t")
    subprocess.run(
        ["git", "-C", str(folder), *author, *words], env=environment, check=True, capture_output=True
    )


def test_a_project_inside_a_checkout_has_its_revision_and_only_its_own_changes(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "other.txt").write_text("one")
    git(tmp_path, "add", "other.txt")
    git(tmp_path, "commit", "--quiet", "--message=without the project")
    found = project.identity()
    assert found is not None
    assert found["git_revision"] is None
    assert found["git_detail"] == "it is inside a checkout whose revision has no mine/benchbook.toml"

    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message=with the project")
    (tmp_path / "other.txt").write_text("two")
    (mine / "notes.txt").write_text("of no account")
    found = project.identity()
    assert found is not None
    assert (found["git_dirty"], found["git_prefix"]) == (False, "mine/")

    run = {
        "run_id": "own-1", "experiment": "own", "profile": "smoke", "order_seed": 7, "argv": ["run", "own"],
        "provenance": {"project": found},
    }  # fmt: skip
    monkeypatch.setenv("BENCHBOOK_COMMAND", """sh -c 'cat "$BENCHBOOK_PROJECT/benchbook.toml"'""")
    again = subprocess.run(
        ["sh", "-c", rerun(run, None, []).by_hand], check=False, capture_output=True, text=True
    )
    shutil.rmtree(tmp_path.parent / f"mine-{found['git_revision'][:12]}")
    assert again.stdout.endswith('name = "mine"\n'), again.stderr

    (mine / "systems" / "new.toml").write_text("a system that no commit has")
    found = project.identity()
    assert found is not None
    assert found["git_dirty"] is True


@pytest.mark.parametrize("prefix", ["../evil", "/etc", "a\n", 5])
def test_a_run_names_no_folder_outside_of_the_checkout(
    mine: Path, monkeypatch: pytest.MonkeyPatch, prefix: object
) -> None:
    monkeypatch.setattr("benchbook.record.rerun._checkout", lambda _: mine)
    run = {
        "run_id": "own-1", "experiment": "own", "profile": "smoke", "order_seed": 7, "argv": ["run", "own"],
        "provenance": {"project": {"name": "mine", "git_revision": "a" * 40, "git_prefix": prefix}},
    }  # fmt: skip
    with pytest.raises(RequestError, match="which is not a folder of a checkout"):
        rerun(run, None, [])
