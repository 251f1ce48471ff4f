"""docs/claims.md: its example, its examples of verdicts and its keys are those of the program."""

from __future__ import annotations

import math
import re
import textwrap
import tomllib
from pathlib import Path

import pytest
from scipy.special import stdtrit

from benchbook.analyse import beside, learned
from benchbook.analyse.judgement import evidence, word
from benchbook.analyse.model import Fit
from benchbook.analyse.processors import Between
from benchbook.cli.app import run
from benchbook.declare.claim import Claim
from benchbook.declare.expectation import Expectation, Kind
from tests.claims import measured_run

PAGE = (Path(__file__).parents[3] / "docs" / "claims.md").read_text(encoding="utf-8")
TESTS: tuple[tuple[Kind, float, float], ...] = (
    ("ratio", 2.0, 0.1),
    ("at-least", 2.0, 0.0),
    ("equal", 1.0, 0.1),
)
"""The test, the published ratio and the margin of the last three columns of the table of verdicts."""


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


def test_the_examples_of_verdicts_have_them() -> None:
    tried = 0
    for verdict, _, *examples in rows(section("Verdicts")):
        for example, (kind, published, margin) in zip(examples, TESTS, strict=True):
            if numbers := re.fullmatch(r"([\d.]+) \(([\d.]+)-([\d.]+)\)", example):
                centre, low, high = (math.log(float(number)) for number in numbers.groups())
                fit = Fit(centre, (high - low) / 2 / float(stdtrit(4, 0.975)), 4.0, 5, 0.1)
                assert word(evidence(fit, Expectation(kind, published, margin))) == verdict, (kind, example)
                tried += 1
    assert tried == 15


def test_every_key_has_an_example_that_is_one() -> None:
    named = []
    for keys, _, examples in rows(section("The keys")):
        written = {name for text in re.findall(r"`([^`]+)`", examples) for name in tomllib.loads(text)}
        assert set(re.findall(r"`([^`]+)`", keys)) == written
        named += list(written)
    assert sorted(named) == sorted(Claim.model_fields)
