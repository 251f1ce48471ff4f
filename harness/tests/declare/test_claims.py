"""Claims in experiment.toml: valid ones, and the error for each mistake."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from benchbook.declare.as_written import check
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.claim import Claim
from benchbook.declare.experiment import Experiment
from benchbook.declare.metric import SHARED, TRIAL, metrics
from benchbook.declare.published import ratios
from benchbook.declare.toml import check as checked
from benchbook.declare.workload import workload
from benchbook.errors import RequestError

FIXTURES = Path(__file__).parents[1] / "claims" / "experiments"
PUBLISHED = Path(__file__).parents[3] / "datasets" / "published"

RATIO: dict[str, Any] = {
    "id": "faster",
    "statement": "A is faster",
    "source": "a page",
    "test": "ratio",
    "phase": "load",
    "metric": "rows_per_second",
    "of": {"system": "cnosdb-2.0.1"},
    "over": {"system": "influxdb-1.8.10"},
    "published": {"ratio": 1.5},
}
TREND: dict[str, Any] = {
    **{key: RATIO[key] for key in ("id", "statement", "source", "phase", "metric", "of")},
    "test": "rises",
    "along": "batch_size",
}


def data(name: str = "cnos-vs-influx") -> dict[str, Any]:
    return tomllib.loads((FIXTURES / name / "experiment.toml").read_text())


def experiment(*claims: dict[str, Any]) -> Experiment:
    return checked({**data(), "claims": list(claims)}, Experiment, "experiment.toml")


def claims(name: str) -> dict[str, Claim]:
    return {claim.id: claim for claim in Experiment.model_validate(data(name)).claims}


@pytest.mark.parametrize("name", ["cnos-vs-influx", "seaweedfs-vs-postgres"])
def test_the_fixtures_are_whole(name: str) -> None:
    check(list(claims(name).values()), PUBLISHED)


def test_published_ratios_of_many_cells_come_from_the_file() -> None:
    found = ratios(claims("cnos-vs-influx")["every-cell"], PUBLISHED)
    by_size = {one.levels["batch_size"]: one for one in found}
    assert by_size["10000"].ratio == pytest.approx(680_000 / 540_000)
    assert (by_size["10000"].of, by_size["10000"].over, by_size["10000"].unit) == (680_000, 540_000, "1/s")
    assert by_size["20000"].ratio is None
    assert "cache-max-memory-size exceeded" in by_size["20000"].note


def test_a_published_trend_is_its_last_value_over_its_first() -> None:
    [found] = ratios(claims("cnos-vs-influx")["rises-with-batch-size"], PUBLISHED)
    assert found.ratio == pytest.approx(750_000 / 60_000)
    assert found.note == "batch_size from 1 to 20000"
    assert found.between("1", "10000").ratio == pytest.approx(680_000 / 60_000)
    assert found.between("1", "7").ratio is None


def test_repetitions_are_averaged_and_sides_may_have_other_names() -> None:
    [found] = ratios(claims("seaweedfs-vs-postgres")["put-at-one-worker"], PUBLISHED)
    assert found.of is not None
    assert found.over is not None
    assert found.of == pytest.approx(373, rel=0.05)
    assert found.ratio == pytest.approx(found.of / found.over)
    [rising] = ratios(claims("seaweedfs-vs-postgres")["concurrency-helps-little"], PUBLISHED)
    assert rising.note == "workers from 1 to 10"


def test_the_repetitions_of_a_published_number_count_by_their_geometric_mean(tmp_path: Path) -> None:
    lines = ["system,iteration,unit,value", "a,1,1/s,100", "a,2,1/s,400", "b,1,1/s,50", "b,2,1/s,50"]
    (tmp_path / "some.csv").write_text("\n".join(lines))
    stated = {"file": "some.csv", "repeats": ["iteration"]}
    [found] = ratios(
        Claim.model_validate({**RATIO, "of": {"system": "a"}, "over": {"system": "b"}, "published": stated}),
        tmp_path,
    )
    assert (found.of, found.over, found.ratio) == (pytest.approx(200), pytest.approx(50), pytest.approx(4))


def test_numbers_in_the_claim_itself() -> None:
    def numbers(published: dict[str, Any], **more: Any) -> list[float | None]:
        return [
            one.ratio
            for one in ratios(Claim.model_validate({**RATIO, "published": published, **more}), PUBLISHED)
        ]

    assert numbers({"ratio": 3.22}) == [3.22]
    assert numbers({"of": 6.0, "over": 2.0, "unit": "1/s"}) == [3.0]
    cells = [{"levels": {"batch_size": 1}, "ratio": 2}, {"levels": {"batch_size": 2}, "of": 3, "over": 2}]
    assert numbers({"cells": cells}, across=["batch_size"]) == [2.0, 1.5]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"of": {"sistem": "cnosdb-2.0.1"}, "over": {"sistem": "x"}},
            ['factor "sistem"', 'did you mean "system"'],
        ),
        (
            {"of": {"system": "cnosdb-2.0.2"}},
            ['level of system "cnosdb-2.0.2"', 'did you mean "cnosdb-2.0.1"'],
        ),
        ({"where": {"batch_size": 999}}, ['where: level of batch_size "999"', "1000"]),
        ({"where": {"batch_size": [1000, 999]}}, ['"999"']),
        (
            {"metric": "rows_a_second"},
            ['"rows_a_second" does not exist; allowed: ', 'did you mean "rows_per_second"'],
        ),
        ({"metric": "queries_per_second"}, ["metric of the phase load"]),
        ({"phase": "laod"}, ['phase "laod"', 'did you mean "load"']),
        ({"phases": 5, "across": ["phase"]}, ["phases = 5: must be a list"]),
        ({"phases": ["load", "load"], "across": ["phase"]}, ['`phases` names "load" twice']),
        (
            {"requires": [{"machine": "physical", "where": {"batch_size": 999}, "why": "x"}]},
            ['requires: where: level of batch_size "999"', "1000"],
        ),
        ({"across": ["batchsize"]}, ["across", 'did you mean "batch_size"']),
        ({"across": ["system"]}, ["across: the factor system is already in `of` or `over`"]),
        ({"over": {"workers": 100}}, ["the same factors", "`of` has system, `over` has workers"]),
        ({"over": {"system": "cnosdb-2.0.1"}}, ["the same", "bench aa"]),
        ({"published": None}, ["needs the key `published`"]),
        ({"published": {}}, ["exactly one of `ratio`", "found none"]),
        ({"published": {"ratio": 2, "file": "x.csv"}}, ["exactly one", "ratio and file"]),
        ({"published": {"of": 2, "over": 1}}, ["unit"]),
        ({"published": {"of": 2, "unit": "s"}}, ["belong together"]),
        ({"published": {"ratio": 0}}, ["published.ratio"]),
        (
            {"published": {"ratio": 2, "select": {"a": 1}}},
            ["`select` selects rows", "the key `file` is missing"],
        ),
        ({"published": {"file": "../secret.csv"}}, ["published.file"]),
        ({"test": "rise"}, ["allowed", "rises"]),
        ({"margin": 0}, ["margin"]),
        ({"margn": 0.1}, ['no key "margn"', "margin"]),
        ({"along": "batch_size"}, ["rises"]),
        ({"substitutes": {"mysql-5.7": "influxdb-1.8.10"}}, ["substitutes", "mysql-5.7"]),
        ({"substitutes": {"cnosdb-2.0.1": "cnos"}}, ["substitutes", "cnosdb-2.4"]),
        ({"versions": {"duckdb": "1"}}, ["versions"]),
        ({"id": "Has Space"}, ["id"]),
        ({"statement": " "}, ["statement"]),
    ],
)
def test_a_mistake_is_one_sentence(change: dict[str, Any], words: list[str]) -> None:
    declared = {key: value for key, value in {**RATIO, **change}.items() if value is not None}
    with pytest.raises(RequestError) as caught:
        experiment(declared)
    for word in words:
        assert word in str(caught.value)
    assert str(caught.value).startswith("experiment.toml: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"along": None}, ["needs along"]),
        ({"over": {"system": "influxdb-1.8.10"}}, ["must not have the key `over`"]),
        ({"where": {"batch_size": 1}}, ["is also in `of`, `where` or `across`"]),
        ({"along": "batch"}, ['along: factor "batch"']),
        ({"by_at_least": 0.5}, ["below 1"]),
    ],
)
def test_a_mistake_in_a_trend_is_one_sentence(change: dict[str, Any], words: list[str]) -> None:
    declared = {key: value for key, value in {**TREND, **change}.items() if value is not None}
    with pytest.raises(RequestError) as caught:
        experiment(declared)
    for word in words:
        assert word in str(caught.value)


def test_an_id_is_given_once() -> None:
    with pytest.raises(RequestError, match="two claims have the id"):
        experiment(RATIO, RATIO)


def test_a_claim_may_name_an_unavailable_system_with_a_substitute() -> None:
    experiment({**RATIO, "of": {"system": "mysql-5.7"}, "substitutes": {"mysql-5.7": "cnosdb-2.4"}})


@pytest.mark.parametrize(
    ("published", "words"),
    [
        ({"file": "cnos-vs-influx.cvs"}, ["published.file"]),
        (
            {"file": "cnos-vs-inflx.csv"},
            ["no file datasets/published/cnos-vs-inflx.csv", "cnos-vs-influx.csv"],
        ),
        ({"file": "cnos-vs-influx.csv", "select": {"metrc": "x"}}, ['no column "metrc"', "metric"]),
        ({"file": "cnos-vs-influx.csv", "select": {"metric": "row_per_second"}}, ["rows_per_second"]),
        ({"file": "cnos-vs-influx.csv", "select": {"workers": 100}}, ["2 rows match one cell", "metric"]),
        (
            {"file": "cnos-vs-influx.csv", "value": "note", "select": {"metric": "rows_per_second"}},
            ["not a number above zero"],
        ),
        (
            {"cells": [{"levels": {"workers": 1}, "ratio": 2}]},
            ["one level for each of these factors: batch_size"],
        ),
        ({"cells": [{"levels": {"batch_size": 1}, "of": 2}]}, ["neither `ratio` nor both `of` and `over`"]),
    ],
)
def test_a_mistake_in_published_numbers_names_the_claim(published: dict[str, Any], words: list[str]) -> None:
    declared = {**RATIO, "across": ["batch_size"], "where": {"workers": 100}, "published": published}
    with pytest.raises(RequestError) as caught:
        check(experiment(declared).claims, PUBLISHED)
    for word in words:
        assert word in str(caught.value)
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("test", ["at-least", "at-most"])
def test_a_one_sided_claim_has_no_margin_unless_it_declares_one(test: str) -> None:
    [claim] = experiment({**RATIO, "test": test}).claims
    assert claim.margin == 0
    [wider] = experiment({**RATIO, "test": test, "margin": 0.2}).claims
    assert wider.margin == 0.2
    check([claim, wider], PUBLISHED)


@pytest.mark.parametrize(
    ("change", "effect"),
    [
        ({"published": {"ratio": 1}, "margin": 0.01}, "0"),
        ({"published": {"ratio": 1.08}, "margin": 0.1}, "0.08"),
        ({"published": {"ratio": 1 / 1.08}, "margin": 0.1, "test": "at-most"}, "0.08"),
        ({"published": {"of": 108, "over": 100, "unit": "1/s"}, "margin": 0.08}, "0.08"),
        ({"published": {"file": "cnos-vs-influx.csv", "select": {"metric": "rows_per_second"}}, "margin": 0.1,
          "across": ["batch_size"], "where": {"workers": 100}}, "0.0755"),
    ],
)  # fmt: skip
def test_a_margin_that_a_ratio_of_1_lies_within_is_refused(change: dict[str, Any], effect: str) -> None:
    declared = experiment({**RATIO, "test": "at-least", **change}).claims
    with pytest.raises(
        RequestError, match=f"below the claimed effect, {effect}, or a ratio of 1 .* would meet"
    ):
        check(declared, PUBLISHED)


LEVELS = [
    {"levels": {"batch_size": size}, "of": value} for size, value in ((1, 1.0), (1000, 3.0), (5000, 2.0))
]
"""Published values of a trend: it rises from the first level to the last, and falls on the way."""


def _two(first: float, second: float) -> dict[str, Any]:
    cells = [{"levels": {"batch_size": size}, "ratio": ratio} for size, ratio in ((1, first), (1000, second))]
    return {"published": {"cells": cells}, "across": ["batch_size"]}


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        ({"test": "equal", "published": {"ratio": 1.5}}, "1 of 1"),
        ({"test": "equal", "published": {"ratio": 1.1}}, None),
        ({"test": "equal", **_two(1.05, 1.3)}, "1 of 2"),
        ({"test": "equal", "in_cells": "any", **_two(1.05, 1.3)}, None),
        ({"test": "equal", "in_cells": "most", **_two(1.05, 1.3)}, "1 of 2"),
        ({"test": "at-least", "words": "slightly", **_two(1.1, 1.5)}, "1 of 2"),
        ({"test": "at-least", "words": "much", **_two(1.6, 1.5)}, None),
        ({"test": "at-least", **_two(0.8, 1.5)}, None),  # a bound is met by itself
        ({"test": "ratio", **_two(0.8, 1.5)}, None),
    ],
)
def test_a_claim_that_its_own_published_numbers_do_not_meet_is_refused(
    change: dict[str, Any], failing: str | None
) -> None:
    declared = experiment({**RATIO, **change}).claims
    if failing is None:
        check(declared, PUBLISHED)
        return
    with pytest.raises(
        RequestError, match=f"would not reproduce it: {failing} published ratios do not meet it"
    ):
        check(declared, PUBLISHED)
    check(experiment({**RATIO, **change, "underspecified": "It contradicts itself."}).claims, PUBLISHED)


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({}, False),
        ({"monotonic": True}, True),
        ({"test": "falls"}, True),
        ({"by_at_least": 2}, False),
        ({"by_at_least": 2.5}, True),
    ],
)
def test_a_trend_that_its_own_published_numbers_do_not_follow_is_refused(
    change: dict[str, Any], refused: bool
) -> None:
    published = {"cells": LEVELS, "unit": "1/s"}
    declared = experiment({**TREND, "published": published, **change}).claims
    if not refused:
        check(declared, PUBLISHED)
        return
    with pytest.raises(RequestError, match="would not reproduce it: 1 of 1 published ratios"):
        check(declared, PUBLISHED)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"words": "much", "test": "ratio"}, 'words = "much" belongs to test at-least or at-most'),
        (
            {"words": "little", "test": "ratio"},
            'words = "little" belongs to test equal or at-least or at-most',
        ),
        ({"words": "slightly", "test": "at-least", "published": {"ratio": 2}}, "remove the key `published`"),
        ({"words": "hardly", "test": "at-least"}, "much"),
        ({"test": "equal", "margin": 0, "published": None}, "margin = 0"),
        ({"at": {"batchsize": 1}}, 'at: factor, option or parameter "batchsize"'),
        ({"at": {"timeuot": "1s"}}, 'did you mean "timeout"'),
        ({"validity": "load"}, "phase"),
    ],
)
def test_a_mistake_in_words_margin_or_conditions_is_one_sentence(change: dict[str, Any], words: str) -> None:
    declared = {key: value for key, value in {**RATIO, **change}.items() if value is not None}
    with pytest.raises(RequestError) as caught:
        experiment(declared)
    assert words in str(caught.value)


def test_conditions_may_name_a_level_that_no_profile_runs() -> None:
    [claim] = experiment({**RATIO, "at": {"batch_size": 123456, "timeout": "9s"}}).claims
    assert claim.at == {"batch_size": 123456, "timeout": "9s"}


def test_the_catalogue_reads_the_published_numbers_with_the_experiment(tmp_path: Path) -> None:
    folder = tmp_path / "experiments" / "cnos-vs-influx"
    folder.mkdir(parents=True)
    text = (FIXTURES / "cnos-vs-influx" / "experiment.toml").read_text()
    (folder / "experiment.toml").write_text(text)
    with pytest.raises(RequestError, match=r"experiments/cnos-vs-influx/experiment.toml: .*no file"):
        Catalogue(tmp_path).experiment("cnos-vs-influx")
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "published").symlink_to(PUBLISHED)
    assert len(Catalogue(tmp_path).experiment("cnos-vs-influx").claims) == 5


def measured_by(name: str) -> set[str]:
    return {one if isinstance(one, str) else one.name for one in workload(name).metrics}


def test_every_metric_that_a_workload_measures_may_be_claimed() -> None:
    from benchbook.measure import steady
    from benchbook.measure.ledger import SUMMARY
    from benchbook.measure.operations import PERCENTILES
    from benchbook.workloads import load, query

    summary = {"duration_ns": 1e9, "rows": 1, "values": 1, "operations": 1}
    seconds = {"operation": "write", "start_ns": 0, "duration_ns": 10**9, "rows": 1, "values": 1}
    of_load = {one.metric for one in load.measurements("load", summary, 0.0, 1)} | {*PERCENTILES}
    of_load |= {one.metric for one in steady.measurements("load", [seconds] * 8)} | {"latency_mean"}
    assert of_load == measured_by("load")
    measured = {one.metric for one in query.measurements("q", summary, [])} | set(PERCENTILES)
    measured |= {
        "latency_mean",
        "data_cached_bytes",
        "data_bytes",
        "data_unread_bytes",
        "offered_per_second",
        "saturated",
    }
    assert measured == measured_by("query")
    assert set(SUMMARY) - {"harness_cpu_seconds"} <= set(metrics("load") or ())
    assert metrics("nobody wrote it") is None
    assert set(metrics(None) or ()) == {one.name for one in SHARED if one.measured_in == TRIAL}


@pytest.mark.parametrize("source", [None, ""])
def test_a_claim_without_its_source_is_refused(source: str | None) -> None:
    changed = {key: value for key, value in RATIO.items() if key != "source"}
    with pytest.raises(RequestError, match="source"):
        experiment(changed if source is None else {**changed, "source": source})


def test_published_values_without_their_unit_are_refused() -> None:
    with pytest.raises(RequestError, match="need the key `unit`"):
        experiment({**RATIO, "published": {"of": 3.0, "over": 2.0}})
