"""Codes of reasons: each is documented, worded, and printed for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchbook.analyse.reason import CODES, because, of_row
from benchbook.cli.app import run
from benchbook.declare.catalogue import root
from benchbook.report import reasons
from tests.analyse.claimed import judge, twice


def test_every_code_is_documented_in_order() -> None:
    page = (root() / "docs" / "claim-reasons.md").read_text(encoding="utf-8")
    assert page.endswith("".join(f"| `{code}` | {meaning} |\n" for code, meaning in CODES.items()))


def test_every_code_is_worded() -> None:
    assert reasons.WORDS.keys() | {"refused"} == CODES.keys()


def test_several_causes_are_one_reason_with_a_part_for_each() -> None:
    faults = [because("answers-empty", queries=["a"]), because("answers-missing", queries=["b", "c"])]
    refused = because("refused", because=faults)
    assert reasons.parts(refused) == [
        "not judged: every system answered a with no rows, which shows nothing",
        "there is no answer to b, c",
    ]
    assert refused.row()["facts"]["because"][1] == {
        "code": "answers-missing",
        "facts": {"queries": ["b", "c"]},
    }
    assert of_row(json.loads(json.dumps(refused.row()))) == refused


def test_a_semicolon_in_a_declared_text_does_not_split_it() -> None:
    text = "its text says that it failed; its table has a number for it"
    assert reasons.all_parts([because("underspecified", text=text), because("smoke")])[0] == text


@pytest.mark.parametrize("side", ["cnosdb-2.0.1", "cnosdb-2.4"])
def test_programs_get_codes_and_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str], side: str) -> None:
    judge(tmp_path, twice, {"of": {"system": side}})
    assert run(["claims", "run-1", "--json", "--results", str(tmp_path)]) == 0
    [printed] = json.loads(capsys.readouterr().out)
    first = printed["reasons"][0]
    if side == "cnosdb-2.4":
        assert printed["verdict"] == "not run"
        assert first == {"code": "not-in-run", "facts": {"levels": {"system": ["cnosdb-2.4"]}}}
        return
    assert (printed["verdict"], first["code"], first["facts"]["narrow"]) == ("reproduced", "within", False)
    assert first["facts"]["expected"] == {"kind": "ratio", "value": 2.0, "margin": 0.1, "within": None}
    assert (first["facts"]["low"], first["facts"]["high"]) == (printed["low"], printed["high"])
    assert "noise-unknown" in [one["code"] for one in printed["reasons"]]
    assert printed["reason"].startswith("the 95 % CI ")
