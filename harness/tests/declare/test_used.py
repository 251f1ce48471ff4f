"""The use of each published number: compared by a claim, drawn by a chart, or a declared reason."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from benchbook.declare import used
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.checkout import experiments
from benchbook.errors import RequestError
from benchbook.report.tables import accounted

ROOT = Path(__file__).parents[3]
SEEDS = {
    "influx-local-vs-s3fs": 102,
    "cnos-vs-influx": 44,
    "seaweedfs-vs-postgres": 504,
    "kline-mysql-vs-kv": 544,
    "devops-suite": 7,
}
"""Seed → the numbers of its publication that are typed in."""

CLAIM = """
[[claims]]
id = "faster"
statement = "A is twice as fast as B."
source = "A table"
test = "ratio"
phase = "load"
metric = "rows_per_second"
of = { system = "sqlite" }
over = { system = "duckdb" }
across = ["batch_size"]
[claims.published]
file = "own.csv"
select = { metric = "rate" }
of_rows = { who = "a" }
over_rows = { who = "b" }
"""
NUMBERS = """who,batch_size,metric,value,unit
a,1,rate,20,1/s
b,1,rate,10,1/s
a,9,rate,40,1/s
b,9,rate,,1/s
a,1,latency,3,ms
b,1,latency,4,ms
"""


def catalogue(where: Path, entries: str = "", claim: str = CLAIM) -> Catalogue:
    (where / "datasets" / "published").mkdir(parents=True)
    for file in (ROOT / "datasets").glob("*.toml"):
        shutil.copy(file, where / "datasets")
    for name in ("systems", "storage"):
        (where / name).symlink_to(ROOT / name, target_is_directory=True)
    (where / "datasets" / "published" / "own.csv").write_text(NUMBERS, encoding="utf-8")
    folder = where / "experiments" / "own"
    folder.mkdir(parents=True)
    text = (ROOT / "experiments" / "quickstart" / "experiment.toml").read_text(encoding="utf-8")
    text = text.replace("[factors]\n", "[factors]\nbatch_size = [1, 9]\n", 1)
    stated = '[publication]\ntitle = "A page"\nclaimed = "A is faster."\n'
    (folder / "experiment.toml").write_text(f"{text}\n{stated}{entries}{claim}", encoding="utf-8")
    return Catalogue(where)


def account(made: Catalogue) -> used.Account:
    return used.account(made.experiment("own"), made.published("own"))


def entry(**keys: str) -> str:
    return "[[publication.numbers]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


@pytest.mark.parametrize("slug", SEEDS)
def test_every_number_of_a_seed_is_used_or_explained(slug: str) -> None:
    made = Catalogue(ROOT)
    found = used.account(made.experiment(slug), made.published(slug))
    assert len(found.numbers) == SEEDS[slug]
    assert [one.row for one in found.of("unexplained")] == []


def test_a_number_is_compared_if_both_sides_have_one(tmp_path: Path) -> None:
    found = account(catalogue(tmp_path))
    # The publication omits the rate of b for batches of 9, so that of a is in no ratio; no claim has the latencies.
    assert [one.row["value"] for one in found.of("compared")] == ["20", "10"]
    assert [one.row["value"] for one in found.of("unexplained")] == ["40", "3", "4"]
    assert {one.claims for one in found.of("compared")} == {("faster",)}


def test_a_claim_without_published_numbers_states_none(tmp_path: Path) -> None:
    without = CLAIM[: CLAIM.index("[claims.published]")].replace('"faster"', '"vague"')
    vague = without + 'underspecified = "It names no number."\n'
    made = catalogue(tmp_path, entry(file='"own.csv"', in_claim='"vague"'), vague)
    with pytest.raises(RequestError, match='the claim "vague" has no `published` numbers'):
        made.experiment("own")


def test_a_question_of_ours_compares_no_published_number(tmp_path: Path) -> None:
    own = CLAIM.replace("A is twice", "Not published: is A twice").replace("as B.", "as B?")
    assert account(catalogue(tmp_path, claim=own)).numbers == ()


def test_a_reason_is_for_the_rest(tmp_path: Path) -> None:
    because = '"Nothing is stated on it."'
    made = catalogue(
        tmp_path,
        entry(file='"own.csv"', because=because)
        + entry(file='"own.csv"', select='{ metric = "latency", who = "a" }', drawn='"shares"')
        + entry(count="12", because='"They are in a picture."'),
    )
    found = account(made)
    uses = {use: [one.row["value"] for one in found.of(use)] for use in ("compared", "drawn", "explained")}
    assert uses == {"compared": ["20", "10"], "drawn": ["3"], "explained": ["40", "4"]}
    assert (found.used, found.absent, found.of("unexplained")) == (3, 12, [])
    assert accounted.totals(found) == (
        "3 of 5 published numbers are used: 2 in claims, 1 drawn in charts. Of the others, 2 have a declared "
        "reason and none is unexplained. 12 more are not typed in, for declared reasons."
    )
    rows = used.drawn(made.publication("own"), "shares", made.published("own"))
    assert [row["value"] for row in rows] == ["3"]


def test_a_claim_that_states_numbers_itself_must_have_them(tmp_path: Path) -> None:
    cells = "cells = [{ levels = { batch_size = 1 }, of = 20, over = 10 }]"
    inline = f'{CLAIM[: CLAIM.index("file = ")]}unit = "1/s"\n{cells}\n'
    rates = entry(file='"own.csv"', select='{ metric = "rate", batch_size = 1 }', in_claim='"faster"')
    assert len(account(catalogue(tmp_path / "right", rates, inline)).of("compared")) == 2
    wrong = rates.replace('"rate"', '"latency"')
    with pytest.raises(
        RequestError,
        match='entry 1: in_claim: the claim "faster" does not state the number 3; it states 10, 20',
    ):
        catalogue(tmp_path / "wrong", wrong, inline).experiment("own")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"file": '"own.csv"', "select": '{ who = "c" }', "drawn": '"x"'}, 'entry 1: .*no row has who = "c"'),
        ({"file": '"own.csv"', "select": '{ whom = "a" }', "drawn": '"x"'}, 'there is no column "whom"'),
        ({"file": '"own.csv"', "select": '{ value = 20 }', "because": '"Because."'}, "has no effect"),
        ({"file": '"own.csv"', "in_claim": '"fastre"'}, 'did you mean "faster"'),
        (
            {"file": '"own.csv"', "value": '"metric"', "in_claim": '"faster"'},
            'entry 1: value: the column "metric" of datasets/published/own.csv has the text "rate"',
        ),
        ({"file": '"own.csv"', "value": '"metric"', "drawn": '"x"'}, 'has the text "rate"'),
        ({"file": '"own2.csv"', "drawn": '"x"'}, "entry 1: there is no file datasets/published/own2.csv"),
        ({"file": '"own.csv"', "value": '"valu"', "drawn": '"x"'}, 'entry 1: .*there is no column "valu"'),
        ({"file": '"own.csv"'}, "exactly one of `in_claim` and `drawn` and `because`; found none"),
        ({"because": '"Because."'}, "exactly one of `file` and `count`; found none"),
        ({"count": "2", "drawn": '"x"'}, "`count` is of numbers in no file"),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_refused(keys: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=message):
        catalogue(tmp_path, entry(**keys)).experiment("own")


@pytest.mark.parametrize("folder", list(experiments().values()), ids=lambda one: one.name)
def test_a_number_that_counts_as_drawn_is_asked_for_by_a_chart(folder: Path) -> None:
    publication = Catalogue().publication(folder.name)
    named = {one.drawn for one in publication.numbers if one.drawn} if publication else set()
    asked = {
        value.value
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "used.drawn"
        for value in node.args
        if isinstance(value, ast.Constant)
    }
    assert named == asked
