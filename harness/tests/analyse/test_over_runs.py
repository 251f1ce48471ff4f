"""Verdicts over all runs that did the same work: on one processor, over processors, and what must not count."""

from __future__ import annotations

import itertools
import json
import math
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import beside, claims, grade, learned
from benchbook.analyse.claims import Judgement
from benchbook.analyse.model import Fit, Noise
from benchbook.analyse.over_runs import Member, Over
from benchbook.analyse.run import Run
from benchbook.cli import claims as printed
from benchbook.cli.app import run
from benchbook.declare.checkout import root
from benchbook.record import database, journal
from benchbook.record.opened import opened
from benchbook.report import limits
from benchbook.site.published import publish
from tests.analyse.claimed import BASE, CNOS, INFLUX
from tests.claims import measured_run

LOAD = {"name": "load", "workload": "load", "options": {"batch_size": 5000}}
FIRST, SECOND, THIRD = (
    {"cpu": {"model": "A", "usable_cores": 2, "flags_count": number}} for number in (1, 2, 3)
)


def write(where: Path, run_id: str, ratio: float, host: Mapping[str, Any] = FIRST, **options: Any) -> None:
    """Write a run of two systems with a true ratio, on a processor."""
    chance = random.Random(run_id)
    claim = options.pop("claim", {})
    option = options.pop("batch_size", 5000)
    declared = measured_run.experiment("cnos-vs-influx", claims=[{**BASE, **claim}])

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        faster = ratio ** (1 + options_of_level(levels)) if levels["system"] == CNOS else 1.0
        rate = 1000 * faster * math.exp(chance.gauss(0, 0.01))
        return {("load", {**BASE, **claim}["metric"]): rate}

    factors = options.pop("factors", {"system": [CNOS, INFLUX]})
    planned = {"phases": [{**LOAD, "options": {"batch_size": option}}]}
    measured_run.write(
        where, run_id, factors, value, declared=declared, host=dict(host), plan=planned, **options
    )  # fmt: skip


def options_of_level(levels: Mapping[str, Any]) -> int:
    return ("low", "high").index(levels.get("level", "low"))


def only(where: Path, run_id: str = "run-1") -> Judgement:
    [found] = claims.over(Run(where, run_id))
    return found


@pytest.mark.parametrize("blocks", [3, 4, 20])
def test_what_to_expect_elsewhere_is_never_narrower_than_what_was_measured(blocks: int) -> None:
    """With 3 blocks whose ratios differ much, the interval for another processor alone would be."""
    fit = Fit(math.log(0.07), 0.2, blocks - 1.0, blocks, 0.35)
    over = Over((Member("a", 0, {}, Noise(0.0, 0), fit),), learned.priors()["speed"])
    low, high = fit.interval(0.05)
    assert over.expect()[0] <= math.exp(low)
    assert over.expect()[1] >= math.exp(high)


def test_a_run_alone_has_its_own_verdict_and_says_what_to_expect_elsewhere(tmp_path: Path):
    write(tmp_path, "run-1", 2.0)
    found, [alone] = only(tmp_path), claims.of_run(Run(tmp_path, "run-1"))
    assert (found.measured, found.low, found.high, found.verdict) == (
        alone.measured, alone.low, alone.high, alone.verdict,
    )  # fmt: skip
    assert (found.scope, found.runs, found.processors, found.alone, found.here) == ("run", 1, 1, None, None)
    assert found.expect is not None
    low, high = found.expect
    assert low < (alone.low or 0) < (alone.high or 0) < high
    assert 1.3 < high / low < 2.5  # three degrees of freedom at a scale of about 7 %


def test_runs_on_one_processor_are_pooled(tmp_path: Path):
    write(tmp_path, "run-1", 1.9)
    write(tmp_path, "run-2", 2.1)
    found = only(tmp_path)
    assert (found.scope, found.runs, found.processors, found.here) == ("processor", 2, 1, None)
    assert found.measured == pytest.approx(math.sqrt(1.9 * 2.1), rel=0.01)
    assert found.alone is not None
    assert found.alone.measured == pytest.approx(1.9, rel=0.01)
    assert only(tmp_path, "run-2").measured == pytest.approx(found.measured)


def test_a_run_that_misses_a_precondition_counts_for_no_other(tmp_path: Path):
    """At the limit of a tool, the ratio is that of the tool with itself."""
    cap = {
        "metric": "rows_per_second",
        "at_most": 2500,
        "why": "The tool writes at most 2,600 rows per second.",
    }
    write(tmp_path, "run-1", 1.9, claim={"requires": [cap]})
    write(tmp_path, "run-2", 3.0, claim={"requires": [cap]})
    found = only(tmp_path)
    assert (found.scope, found.runs, found.verdict) == ("run", 1, "reproduced")
    assert only(tmp_path, "run-2").verdict == "out of reach here"


def test_processors_that_differ_decide_nothing_although_each_decides(tmp_path: Path):
    write(tmp_path, "run-1", 2.0)
    write(tmp_path, "run-2", 3.0, SECOND)
    found = only(tmp_path)
    assert (found.scope, found.runs, found.processors) == ("processors", 2, 2)
    assert found.measured == pytest.approx(math.sqrt(6), rel=0.02)
    assert found.verdict == "direction only"
    assert found.here is not None
    assert (found.here.verdict, found.here.scope, found.here.runs) == ("reproduced", "run", 1)
    assert found.alone is not None
    assert found.alone.verdict == "reproduced"
    assert found.expect is not None
    assert found.expect[0] < (found.low or 0) < (found.high or 0) < found.expect[1]


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ((0.5, 2.0), True),
        ((1.5, 3.0), False),
        ((0.99, 1.01), False),
    ],
    ids=["on opposite sides of 1", "on one side", "intervals that overlap"],
)
def test_a_mean_of_processors_that_disagree_says_so(
    tmp_path: Path, ratios: tuple[float, float], said: bool
) -> None:
    for number, (ratio, host) in enumerate(zip(ratios, (FIRST, SECOND), strict=True), start=1):
        write(tmp_path, f"run-{number}", ratio, host)
    fits = grade.apart(only(tmp_path))
    assert [math.exp(one.centre) for one in fits] == pytest.approx(ratios if said else [], rel=0.03)


def test_three_processors_that_agree_decide_more_than_two(tmp_path: Path):
    widths = []
    for number, host in enumerate((FIRST, SECOND, THIRD), start=1):
        write(tmp_path, f"run-{number}", 2.0, host)
        found = only(tmp_path)
        assert found.processors == number
        widths.append((found.high or 0) / (found.low or 1))
    assert widths[2] < widths[1]
    assert found.measured == pytest.approx(2.0, rel=0.01)


@pytest.mark.nightly
def test_neither_the_order_of_runs_nor_the_one_that_is_asked_about_moves_the_mean(tmp_path: Path):
    made = [("a", 1.8, FIRST), ("b", 2.2, SECOND), ("c", 2.0, FIRST)]
    found = set()
    for number, order in enumerate(itertools.permutations(made)):
        where = tmp_path / str(number)
        for name, ratio, host in order:
            write(where, name, ratio, host)
        found |= {(round(one.measured or 0, 9), one.verdict) for one in (only(where, name) for name in "abc")}
    assert len(found) == 1


OTHERS: dict[str, dict[str, Any]] = {
    "sent by somebody": {"own": False},
    "another profile": {"profile": "seed"},
    "other options of the phase": {"batch_size": 500},
    "other data": {"changes": lambda levels: {"dataset_digest": "other"}},
    "another version": {"changes": lambda levels: {"version_reported": "2.0"}},
    "another configuration": {"changes": lambda levels: {"config_digest": "other"}},
    "failed operations": {
        "errors": lambda levels, block: [{"phase": "load", "message": "no", "operations": 3}]
    },
    "lost trials": {"status": lambda levels, block: ("failed" if block == 2 else "ok", None)},
    "an A/A run": {"factors": {"system": [CNOS, INFLUX], "aa": ["A", "B"]}},
}


@pytest.mark.parametrize("why", OTHERS)
def test_a_run_of_other_work_or_unknown_origin_moves_nothing(tmp_path: Path, why: str):
    write(tmp_path, "run-1", 2.0)
    write(tmp_path, "run-2", 4.0, **OTHERS[why])
    found = only(tmp_path)
    assert (found.scope, found.runs) == ("run", 1)
    assert found.measured == pytest.approx(2.0, rel=0.01)
    assert found.expect is not None


def test_an_unfinished_run_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path, "run-1", 2.0)
    write(tmp_path, "run-2", 4.0)
    run = Run(tmp_path, "run-1")
    with run.connected() as connection:
        [names] = [connection.execute("SELECT run_id, finished_at FROM runs ORDER BY run_id").fetchall()]
    assert all(finished for _, finished in names)
    path = tmp_path / "runs" / "run-2" / "run.json"
    path.write_text(path.read_text().replace('"finished_at": "2026', '"finished_at": null, "was": "2026'))
    measured_run.rebuild(tmp_path)
    assert only(tmp_path).runs == 1


def test_a_run_that_somebody_sent_rests_on_none_of_mine(tmp_path: Path):
    write(tmp_path, "run-1", 2.0)
    write(tmp_path, "run-2", 4.0, own=False)
    found = only(tmp_path, "run-2")
    assert (found.runs, found.scope) == (1, "run")


def test_a_claim_with_several_cases_is_over_processors_if_each_case_is(tmp_path: Path):
    both = {"system": [CNOS, INFLUX], "level": ["low", "high"]}
    declared = {"test": "at-least", "published": {"ratio": 1}}
    write(tmp_path, "run-1", 2.0, claim=declared, factors=both)
    write(tmp_path, "run-2", 2.0, SECOND, claim=declared, factors={**both, "level": ["low"]})
    found = only(tmp_path)
    assert (found.scope, [one.processors for one in found.by_case if one]) == ("run", [1, 2])
    write(tmp_path, "run-3", 2.0, SECOND, claim=declared, factors=both)
    found = only(tmp_path)
    assert (found.scope, found.processors, found.runs) == ("processors", 2, 2)
    assert found.measured == pytest.approx(2.0**1.5, rel=0.02)  # the geometric mean of 2 and 4
    assert [one.measured for one in found.cells] == pytest.approx([4.0, 2.0], rel=0.02)
    assert (found.verdict, found.expect) == ("reproduced", None)


def test_the_typical_ratio_of_several_cases_over_runs_has_the_noise_between_equal_setups(tmp_path: Path):
    """Two cases in two runs of one processor; equal setups differ by 10 %, and trials by 1 %."""
    both = {"system": [CNOS, INFLUX], "level": ["low", "high"]}
    claim = {"test": "at-least", "published": {"ratio": 1}}

    def aa(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {("load", BASE["metric"]): 1000 * math.exp(0.1 * (levels["aa"] == "A") + 0.001 * block)}

    measured_run.write(
        tmp_path, "aa-1", {"system": [CNOS, INFLUX], "aa": ["A", "B"]}, aa, host=dict(FIRST), database=False
    )
    for run_id in ("run-1", "run-2"):
        write(tmp_path, run_id, 2.0, claim=claim, factors=both)
    found = only(tmp_path)
    assert (found.scope, found.runs, len(found.cells)) == ("processor", 2, 2)
    [whole] = [found.fit]
    assert whole is not None
    each = [one.members[0].noise.variance for one in found.by_case if one]
    assert each == pytest.approx([0.1**2] * 2, rel=0.6)
    assert whole.error > math.sqrt(max(each) / 2)


@pytest.mark.parametrize(("other", "verdict"), [(2.0, "reproduced"), (0.5, "inconclusive")])
def test_a_trend_is_judged_by_its_steps_over_runs(tmp_path: Path, other: float, verdict: str):
    rises = {
        "test": "rises", "along": "workers", "monotonic": True, "of": {"system": CNOS}, "over": {}, "published": None,
    }  # fmt: skip
    for run_id, ratio, host in (("run-1", 2.0, FIRST), ("run-2", other, SECOND)):
        chance = random.Random(run_id)

        def value(levels: dict[str, Any], block: int, ratio: float = ratio) -> dict[tuple[str, str], float]:
            rate = 1000 * ratio ** math.log2(levels["workers"]) * math.exp(chance.gauss(0, 0.01))  # noqa: B023
            return {("load", "rows_per_second"): rate}

        declared = measured_run.experiment("cnos-vs-influx", claims=[{**BASE, **rises}])
        measured_run.write(
            tmp_path, run_id, {"system": [CNOS], "workers": [1, 2, 4]}, value, declared=declared, host=host,
            plan={"phases": [LOAD]},
        )  # fmt: skip
    found = only(tmp_path)
    assert (found.scope, len(found.cells[0].steps)) == ("processors", 2)
    assert found.verdict == verdict


def test_a_count_of_failures_is_judged_in_its_run_alone(tmp_path: Path):
    claim = {"metric": "rows_refused"}
    write(tmp_path, "run-1", 2.0, claim=claim)
    write(tmp_path, "run-2", 4.0, claim=claim)
    found = only(tmp_path)
    assert (found.scope, found.runs, found.by_case, found.expect) == ("run", 1, (), None)
    assert found.measured == pytest.approx(2.0, rel=0.01)


def test_claims_prints_every_scope(tmp_path: Path):
    write(tmp_path, "run-1", 2.0)
    write(tmp_path, "run-2", 2.0)
    write(tmp_path, "run-3", 3.0, SECOND)
    found = only(tmp_path)
    row = printed._row(found)
    assert (row["scope"], row["runs"], row["processors"]) == ("processors", 3, 2)
    assert (row["here"]["runs"], row["here"]["verdict"]) == (2, "reproduced")
    assert row["alone"]["measured"] == pytest.approx(2.0, rel=0.01)
    text = " ".join(printed._block(found, 100).split())
    for said in ("Over 3 runs on 2 processors: ", "; here, 2 runs on 1 processor: ", "; this run alone: "):
        assert said in text
    assert f"on another processor expect: {row['expect'][0]:.3g}" in text
    block = printed._block(only(tmp_path, "run-3"), 100)
    assert block.startswith("faster: holds, size open: 2.00 to 2.99 times in 3 runs, published 2.00\n")


def test_the_other_runs_are_found_once(tmp_path: Path):
    write(tmp_path, "run-1", 2.0)
    write(tmp_path, "run-2", 2.0, SECOND)
    write(tmp_path, "run-3", 2.0)
    names = [[one.run_id for one in group] for group in beside.of(Run(tmp_path, "run-3"))]
    assert [held for held in names if "run" in held[0][:4]] == [["run-3", "run-1"], ["run-2"]]
    every = [name for held in names for name in held]  # with those of the ledger
    assert len(every) == len(set(every))


def test_a_run_that_somebody_put_into_the_ledger_moves_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data = tmp_path / "checkout" / "reports" / "data"
    for run_id, ratio in (("run-1", 2.0), ("run-2", 4.0)):
        where = tmp_path / run_id
        write(where, run_id, ratio)
        (where / "runs" / run_id / "declared").mkdir()
        (where / "runs" / run_id / "declared" / "experiment.toml").touch()
        publish(where, run_id, data)
    monkeypatch.setattr(beside, "root", lambda: tmp_path / "checkout")
    folder = data / "cnos-vs-influx" / "run-1"

    def judged(*known: str) -> tuple[int, float | None]:
        monkeypatch.setattr(learned, "runs", lambda: frozenset(known))
        with opened(tmp_path / "results", str(folder)) as found:
            [one] = claims.over(Run(found.results, "run-1"))
        return one.runs, one.measured

    assert judged("run-1") == (1, pytest.approx(2.0, rel=0.02))
    assert judged("run-1", "run-2") == (2, pytest.approx(math.sqrt(8), rel=0.02))


@pytest.mark.slow
def test_a_run_that_should_count_and_does_not_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Verdicts change if somebody leaves out, withdraws or never records a published run, or removes an own one."""
    checkout = tmp_path / "checkout"
    ids = [f"cnos-vs-influx-2026030{day}T000000-000{day}" for day in range(1, 6)]
    first, second, third, fourth, fifth = ids
    common = {"profile": "quick", "revision": None, "machine": None, "against_itself": False, "trials": 6}
    earlier = [
        {**common, "run_id": fourth, "finished": True},
        {**common, "run_id": fifth, "finished": False},
        {**common, "run_id": first, "finished": True},
        {**common, "run_id": "\x1b[2J", "finished": True},
    ]
    for run_id in (first, second, third):
        where = tmp_path / run_id
        write(where, run_id, 2.0)
        path = where / "runs" / run_id / "run.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "earlier_runs": earlier}))
        (path.parent / "declared").mkdir()
        (path.parent / "declared" / "experiment.toml").touch()
        publish(where, run_id, checkout / "reports" / "data")
    priors = checkout / learned.FILE
    shutil.copy(root() / learned.FILE, priors)
    monkeypatch.setattr(beside, "root", lambda: checkout)
    monkeypatch.setattr(learned.checkout, "found", lambda _: priors)
    place = checkout / "reports" / "data" / "cnos-vs-influx"

    def absent(*known: str) -> dict[str, tuple[str, ...]]:
        monkeypatch.setattr(learned, "runs", lambda: frozenset(known))
        with opened(tmp_path / "results", str(place / third)) as found:
            return dict(beside.absent(Run(found.results, third)))

    gone = {"earlier": (fourth,), "stopped": (fifth,)}
    assert absent(first, second, third, "another-20260301T000000-0001") == gone
    assert absent(first, third) == {"not learned": (second,), **gone}
    shutil.move(place / second, tmp_path / "aside")
    assert absent(first, second, third) == {"removed": (second,), **gone}
    assert printed_by_claims(place / third, capsys).endswith(
        "1 other run counts for no verdict here (published before, as reports/priors.json or the history of git "
        "says, but missing from reports/data): "
        f"{second}. 1 other run counts for no verdict here (named by this run as complete and earlier, but neither "
        f"published as one of the project nor a complete run of the same user in its results folder): {fourth}. 1 "
        "other run counts for no verdict here (named by this run as earlier, and not complete: it was stopped or "
        f"failed to end): {fifth}."
    )
    with opened(tmp_path / "results", str(place / third)) as found:
        assert sum("counts for no verdict" in one for one in limits.limits(Run(found.results, third))) == 3
    monkeypatch.setattr(learned.checkout, "found", lambda _: tmp_path / "installed" / learned.FILE)
    # An installed package has priors and no runs, and a project has some of Benchbook's.
    monkeypatch.setattr(learned, "built_in_runs", lambda: frozenset((first, second, third)))
    monkeypatch.setattr(beside, "is_apart", lambda: True)
    assert absent(third) == {"not learned": (first,), "elsewhere": (second,), **gone}
    monkeypatch.setattr(learned, "built_in_runs", lambda: frozenset((first, second)))
    assert absent(first, third) == gone, "a run of one's own says nothing of Benchbook's"
    (place / "withdrawn.toml").write_text(
        f'[[run]]\nid = "{first}"\nreason = "It was noisy."\ndate = 2026-03-04\nby = "B"\n'
    )
    assert absent(first, third) == {"withdrawn": (first,), **gone}


@pytest.mark.parametrize(
    ("file", "now", "then"),
    [
        ("seal.json", '"plan"', '"none"'),
        ("run.json", '"finished_at": "', '"ended_at": "'),
        ("run.json", '"profile": "quick"', '"profile": "fast"'),
    ],
)
def test_an_earlier_run_that_was_made_to_count_no_more_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, now: str, then: str
):
    first, second = (f"cnos-vs-influx-2026030{day}T000000-000{day}" for day in (1, 2))
    earlier = {
        "run_id": first,
        "profile": "quick",
        "machine": None,
        "against_itself": False,
        "finished": True,
    }
    write(tmp_path, first, 2.0)
    write(tmp_path, second, 2.0)
    path = tmp_path / "runs" / second / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "earlier_runs": [{**earlier, "trials": 6}]}))
    database.rebuild(tmp_path)
    assert beside.absent(Run(tmp_path, second)) == {}
    place = tmp_path / "runs" / first / file
    text = place.read_text()
    assert now in text
    place.write_text(text.replace(now, then))
    database.rebuild(tmp_path)
    assert beside.absent(Run(tmp_path, second)) == {"earlier": (first,)}


@pytest.mark.parametrize("place", [0, 1])
def test_a_trial_that_changed_after_its_run_is_named_for_all_runs_that_it_counts_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: int
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ids = first, second = [f"cnos-vs-influx-2026030{day}T000000-000{day}" for day in (1, 2)]
    write(tmp_path, first, 2.0)
    write(tmp_path, second, 2.0)
    changed = ids[place]
    trial = tmp_path / "runs" / changed / "trials" / "0003"
    journal.begin_again(trial.parents[1])
    assert beside.altered(Run(tmp_path, second)) == {}
    file = trial / "trial.json"
    file.write_text(file.read_text().replace('"value": ', '"value": 1'))
    altered = {"trial_id": f"{changed}/0003", "status": "ok", "why": "changed"}
    assert beside.altered(Run(tmp_path, second)) == {changed: (altered,)}
    capsys.readouterr()
    assert run(["claims", second, "--results", str(tmp_path)]) == 0
    said = f"Trials of {changed} were removed or changed since they ended: {changed}/0003."
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("claim", "lost", "counts"), [({}, False, True), ({}, True, False), ({"metric": "retries"}, False, False)]
)
def test_claims_counts_the_runs_beside_it_that_no_answer_rests_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], claim: dict[str, Any], lost: bool, counts: bool
):
    def status(levels: Mapping[str, Any], block: int) -> tuple[str, str | None]:
        return ("failed", "x") if block == 1 and lost else ("ok", None)

    write(tmp_path, "run-1", 2.0, claim=claim, status=status)
    write(tmp_path, "run-2", 2.0, claim=claim)
    assert run(["claims", "run-2", "--results", str(tmp_path)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    published = len(beside.published_ids(Run(tmp_path, "run-2")))
    assert f"{published + (not counts)} of {published + 1} other runs of this experiment" in out


def printed_by_claims(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(["claims", str(folder)]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_without_priors_each_run_is_judged_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(learned.checkout, "found", lambda _: None)
    for cached in (learned.priors, learned.runs, learned._held):
        cached.cache_clear()
    try:
        write(tmp_path, "run-1", 2.0)
        write(tmp_path, "run-2", 2.0)
        found = only(tmp_path)
        assert (found.scope, found.runs, found.by_case, found.verdict) == ("run", 1, (), "reproduced")
    finally:
        for cached in (learned.priors, learned.runs, learned._held):
            cached.cache_clear()


def test_a_run_whose_systems_answered_otherwise_counts_for_no_other(tmp_path: Path) -> None:
    def answers(differ: bool) -> Any:
        def of(levels: dict[str, Any]) -> list[dict[str, Any]]:
            value = 2.0 if differ and levels["system"] == CNOS else 1.0
            return [
                {"phase": "answers", "v": 1, "type": "answer", "id": number, "query_type": "q",
                 "columns": ["time_ns", "host", "value"], "rows": [[1, "host_0", value]]}
                for number in range(20)
            ]  # fmt: skip

        return of

    for name, differ in (("run-1", False), ("run-2", False), ("run-3", True)):
        write(tmp_path, name, 2.0, answers=answers(differ), seconds=lambda levels, block: 5.0)
    assert only(tmp_path).runs == 2
    assert {one.run_id for one in only(tmp_path).by_case[0].members} == {"run-1", "run-2"}
