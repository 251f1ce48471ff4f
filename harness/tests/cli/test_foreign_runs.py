"""Attacks with runs from elsewhere: nothing in a results folder that others wrote is carried out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.cli.app import run
from benchbook.cli.request import planned
from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError
from benchbook.record import export, folder, opened, seal
from benchbook.run import engine


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program of a stranger; it shows that it was executed."""
    made = tmp_path / "evil"
    made.write_text(f"#!/bin/sh\ntouch {tmp_path / 'executed'}\necho 'InfluxDB v1.8.10'\n")
    made.chmod(0o755)
    return made


@pytest.fixture
def unfinished(tmp_path: Path, program: Path) -> Path:
    """The folder of a run on another machine that was killed after its plan was stored."""
    made = planned(Catalogue(), "cnos-vs-influx", "smoke", ["system=influxdb-1.8.10"], 3, 7,
                   [f"influxdb-1.8.10={program}"])  # fmt: skip
    run_folder = tmp_path / "theirs" / "runs" / made.run_id
    folder.write_whole(run_folder / "plan.json", made.text().encode())
    (tmp_path / "executed").unlink()  # by planning itself
    return run_folder


def copied(unfinished: Path, mine: Path) -> None:
    shutil.copytree(unfinished, mine / "runs" / unfinished.name)


def with_their_seal(unfinished: Path, mine: Path) -> None:
    copied(unfinished, mine)
    folder.write_json(mine / "runs" / unfinished.name / seal.FILE, {"plan": "0" * 64})


def imported(unfinished: Path, mine: Path) -> None:
    exported = export.export_run(
        unfinished.parents[1], unfinished.name, mine.with_name("export"), private=True, say=lambda _: None
    )
    opened.import_run(exported, mine, lambda _: None)


@pytest.mark.parametrize("way", [copied, with_their_seal, imported])
@pytest.mark.parametrize("named", [False, True])
def test_a_run_from_elsewhere_is_not_resumed(
    tmp_path: Path,
    unfinished: Path,
    way: Callable[[Path, Path], None],
    named: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mine = tmp_path / "mine"
    way(unfinished, mine)
    code = run(["resume", *([unfinished.name] if named else []), "--results", str(mine)])
    told = capsys.readouterr().err
    assert not (tmp_path / "executed").exists()
    assert list(mine.glob("runs/*/trials/*")) == []
    assert (
        f"{unfinished.name} is not continued" in told if named else "not continued, because this user" in told
    )
    assert unfinished.name in told
    assert code == (2 if named else 0)


def edited(plan: dict[str, Any], how: str) -> dict[str, Any]:
    if how == "trial removed":
        plan["trials"].pop()
    elif how == "order":
        plan["trials"][0]["block"], plan["trials"][-1]["block"] = 1, 0
    elif how == "seed":
        plan["order_seed"] += 1
    elif how == "run id":
        plan["run_id"] = "../../../evil"
    elif how == "trial id":
        plan["trials"][0]["trial_id"] = f"{plan['run_id']}/../../../evil"
    elif how == "server":
        plan["given"] = {"influxdb-1.8.10": "http://127.0.0.1:1"}
    return plan


@pytest.mark.parametrize("how", ["trial removed", "order", "seed", "run id", "trial id", "server"])
def test_an_edited_plan_is_not_carried_out(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    carried: list[Any] = []
    monkeypatch.setattr(engine, "carry_out", lambda plan, *_: carried.append(plan))
    results = tmp_path / "a" / "b" / "results"
    made = planned(Catalogue(), "quickstart", "smoke", None, 2, 7, None)
    engine.store_plan(results, made)
    assert engine.load_plan(results, made.run_id) == made
    path = results / "runs" / made.run_id / "plan.json"
    path.write_text(json.dumps(edited(json.loads(path.read_text()), how)))
    assert run(["resume", made.run_id, "--results", str(results)]) == 2
    told = capsys.readouterr().err
    assert "its plan.json has changed since" in told
    assert "rerun" in told
    assert carried == []
    assert not any("evil" in path.name for path in tmp_path.rglob("*"))


def test_the_aa_run_of_a_run_with_looks_is_checked_too(tmp_path: Path) -> None:
    made = planned(Catalogue(), "quickstart", "smoke", None, 3, 7, None, against_itself=True)
    folder.write_whole(tmp_path / "runs" / made.run_id / "plan.json", made.text().encode())
    with pytest.raises(RequestError, match=f"{made.run_id} is not continued"):
        engine.load_plan(tmp_path, made.run_id)


def test_the_command_of_a_run_is_sealed_when_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def describe(context: object, argv: list[str]) -> dict[str, Any]:
        return {"run_id": "quickstart-1", "argv": argv, "provenance": {"git_revision": "a" * 40}}

    monkeypatch.setattr(engine, "describe", describe)
    monkeypatch.setattr(engine, "keep_declarations", lambda _: None)
    place = tmp_path / "runs" / "quickstart-1"
    assert seal.seal_plan(place, b"{}")
    context: Any = None
    engine._run_record(context, place, ["run", "quickstart"])
    begun = folder.read_object(place / folder.RUN_FILE)
    assert seal.is_own_command(place, begun)
    assert not seal.is_own_command(
        place, {**begun, "argv": ["run", "quickstart", "--system", "sqlite=./evil"]}
    )
    (place / folder.PLAN_FILE).write_bytes(b"{}")
    assert seal.is_own(place), "both seals stay"
