"""docs/claims.md: its example, its examples of answers and its keys are those of the program."""

from __future__ import annotations

import math
import re
import textwrap
import tomllib
from pathlib import Path

import pytest
from scipy.special import stdtrit

from benchbook.analyse import beside, learned
from benchbook.analyse.judgement import Answer, answer, evidence, word
from benchbook.analyse.model import Fit
from benchbook.analyse.processors import Between
from benchbook.cli.app import run
from benchbook.declare.claim import Claim
from benchbook.declare.expectation import Expectation, Kind
from benchbook.report import holding
from tests.claims import measured_run

PAGE = (Path(__file__).parents[3] / "docs" / "claims.md").read_text(encoding="utf-8")
TESTS: tuple[tuple[Kind, float, float], ...] = (
    ("ratio", 2.0, 0.1),
    ("at-least", 2.0, 0.0),
    ("equal", 1.0, 0.1),
)
"""The test, the published ratio and the margin of the last three columns of the table of answers."""


def section(title: str) -> str:
    """Return the text below a heading, up to the next heading of any level."""
    return re.split(r"^#+ .*\n", PAGE.partition(f"\n## {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """Return the cells of a table's rows, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_example_has_the_verdict_that_the_program_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The page does not change with each run that is published.
    monkeypatch.setattr(learned, "priors", lambda: {"speed": Between(0.0688)})
    monkeypatch.setattr(beside, "published_ids", lambda _: set())
    monkeypatch.setattr(beside, "of", lambda run: ((run,),))
    example = section("An example")
    blocks = [textwrap.dedent(block) for block in re.findall(r"(?:^    .*\n)+", example, re.MULTILINE)]
    declared, shown = blocks
    rates = {int(block): (float(of), float(over)) for block, of, over, _ in rows(example)}
    for block, of, over, ratio in rows(example):
        assert f"{float(of) / float(over):.2f}" == ratio, block
    [claim] = tomllib.loads(declared)["claims"]
    experiment = measured_run.experiment("cnos-vs-influx", claims=[])
    experiment["claims"] = [Claim.model_validate(claim).model_dump(mode="json")]
    measured_run.write(
        tmp_path, "example", {"system": ["duckdb"], "batch_size": [5000, 500]},
        lambda levels, block: {
            ("load", "rows_per_second"): rates[block + 1][0 if levels["batch_size"] == 5000 else 1]
        },
        declared=experiment, blocks=len(rates),
    )  # fmt: skip
    assert run(["claims", "example", "--results", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"example\n\n{shown}"


def answered(example: str, expected: Expectation) -> tuple[str, Answer] | None:
    """Return verdict and answer for a ratio of five trials with its interval; None for an example in words."""
    numbers = re.fullmatch(r"([\d.]+) \(([\d.]+)-([\d.]+)\)", example)
    if numbers is None:
        return None
    centre, low, high = (math.log(float(number)) for number in numbers.groups())
    shown = evidence(Fit(centre, (high - low) / 2 / float(stdtrit(4, 0.975)), 4.0, 5, 0.1), expected)
    return word(shown), answer(word(shown), [(shown, expected)])


def test_the_first_examples_have_the_answers_of_the_program() -> None:
    kinds = {"at least 2": TESTS[1], "equal, within 10 %": TESTS[2]}
    tried = 0
    for published, measured, holds, size in rows(PAGE.partition("\n## ")[0].partition("| Answer |")[0]):
        if re.fullmatch(r"[\d.]+", published):
            kinds[published] = "ratio", float(published), 0.1
        if published in kinds and (found := answered(measured, Expectation(*kinds[published]))):
            assert (holds, size) == (found[1].holds, holding.size_words(found[1])), (published, measured)
            tried += 1
    assert tried == 12


def test_the_examples_of_each_test_have_its_answer() -> None:
    tried = 0
    for said, _, *examples, verdict in rows(section("How an answer is reached")):
        for example, (kind, published, margin) in zip(examples, TESTS, strict=True):
            text = example.partition(", if 1 was")[0]
            found = answered(text, Expectation(kind, 1.0 if text != example else published, margin))
            if found is not None:
                assert found[0] == verdict, (kind, example)
                assert found[1].holds in said, (kind, example)
                assert not found[1].size or holding.size_words(found[1]) in said, (kind, example)
                tried += 1
    assert tried == 18


def test_every_key_has_an_example_that_is_one() -> None:
    named = []
    for keys, _, examples in rows(section("The keys")):
        written = {name for text in re.findall(r"`([^`]+)`", examples) for name in tomllib.loads(text)}
        assert set(re.findall(r"`([^`]+)`", keys)) == written
        named += list(written)
    assert sorted(named) == sorted(Claim.model_fields)
