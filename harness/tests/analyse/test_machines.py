"""Runs of one experiment on several machines: answers side by side, and what is left out."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims, machines
from benchbook.analyse.judgement import Answer
from benchbook.analyse.machines import Finding, Machines
from benchbook.analyse.run import Run
from benchbook.errors import RequestError
from benchbook.report.machines import counted
from tests.analyse.claimed import BASE, CNOS, INFLUX, OTHER
from tests.claims import measured_run

Write = Callable[..., Run]
AS_PUBLISHED = Answer("holds", "as published")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes the run of a machine on which CnosDB is ``ratio`` times as fast."""
    count = itertools.count()

    def written(ratio: float | Callable[[dict[str, Any]], float], noise: float = 0.01, **options: Any) -> Run:
        number = next(count)
        chance = random.Random(number)

        def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
            times = ratio(levels) if callable(ratio) else ratio
            faster = times if levels["system"] != INFLUX else 1.0
            return {("load", "rows_per_second"): 1000 * faster * math.exp(chance.gauss(0, noise))}

        claimed = options.pop("claims", [{}])
        declared = measured_run.experiment("cnos-vs-influx", claims=[{**BASE, **one} for one in claimed])
        factors = options.pop("factors", {"system": [CNOS, INFLUX]})
        machine = options.pop("machine", f"machine-{number}")
        cpu = {"usable_cores": 2, "model": options.pop("processor", "Synthetic")}
        host = {"machine": {"id": machine}, "cpu": cpu}
        run_id = measured_run.write(
            tmp_path / str(number), f"run-{number}", factors, value, declared=declared, host=host, **options
        )
        return Run(tmp_path / str(number), run_id)

    return written


def named(*runs: Run, **options: Any) -> Machines:
    return machines.of_runs({f"m{number}": run for number, run in enumerate(runs)}, **options)


def only(found: Machines) -> Finding:
    [one] = found.findings
    return one


def test_a_verdict_that_depends_on_the_machine(write: Write) -> None:
    found = named(write(2.0), write(2.02), write(0.5))
    assert only(found).said == [AS_PUBLISHED, AS_PUBLISHED, Answer("reversed")]
    assert counted(only(found)) == "holds as published on 2 machines; reversed on 1"
    assert (
        found.sentence
        == "The answer depends on the machine for 1 of 1 claim that at least 2 machines decided."
    )
    made = only(found).summary
    assert made is not None
    assert made.i_squared > 0.99
    assert made.prediction() is not None


def test_the_size_alone_depends_on_the_machine(write: Write) -> None:
    found = named(write(2.0), write(3.0))
    assert only(found).dependence == "size"
    assert found.sentence.endswith("for 1 of them in its size alone.")


def test_machines_that_agree(write: Write) -> None:
    runs = [write(2.0), write(2.01), write(1.99)]
    found = named(*runs)
    assert found.sentence == (
        "Each judged alone, the machines agree on the one claim that at least 2 machines decided."
    )
    made = only(found).summary
    assert made is not None
    assert math.exp(made.fit.centre) == pytest.approx(2.0, rel=0.01)
    assert only(named(runs[2], runs[0], runs[1])).summary == made


def test_one_machine_alone_has_no_summary(write: Write) -> None:
    found = named(write(2.0))
    assert only(found).summary is None
    assert found.sentence.startswith("It is open whether an answer depends on the machine")


def test_a_machine_that_decides_nothing_says_nothing(write: Write) -> None:
    found = named(write(2.0), write(1.7, noise=0.6))
    assert only(found).said == [AS_PUBLISHED, Answer("open")]
    assert only(found).dependence == "undecided"


def test_different_work_is_left_out_with_the_reason(write: Write) -> None:
    other = write(0.5, changes=lambda levels: {"dataset_digest": "other"})
    profile = write(0.5, profile="published")
    found = named(write(2.0), other, write(2.0), profile)
    assert list(found.runs) == ["m0", "m2"]
    assert found.left_out == {
        "m1": "digest of the dataset: differs",
        "m3": "profile: published in place of quick",
    }
    assert list(named(write(2.0), other, across=True).runs) == ["m0", "m1"]


def test_a_claim_is_compared_where_its_phase_did_the_same(write: Write) -> None:
    """The defect: files of 4, 8 and 12 GiB were called the same work, and their difference one of the processors."""

    def with_options(**options: Any) -> Run:
        return write(2.0, plan={"phases": [{"name": "load", "workload": "load", "options": options}]})

    runs = [with_options(batch_size=1000), with_options(batch_size=1000), with_options(batch_size=2000)]
    found = only(named(*runs))
    assert found.said == [AS_PUBLISHED, AS_PUBLISHED, machines.NOT_RUN]
    assert [one.code for one in found.results[2].because] == ["other-work"]
    assert only(named(*runs, across=True)).said == [AS_PUBLISHED] * 3


def test_a_run_that_cannot_be_judged_takes_no_other_with_it(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [write(2.0), write(2.0), write(2.0)]

    def judged(run: Run, *given: Any, really: Any = claims.of_run) -> Any:
        if run.run_id == runs[1].run_id:
            raise OverflowError
        return really(run, *given)

    monkeypatch.setattr(claims, "of_run", judged)
    found = named(*runs)
    assert list(found.runs) == ["m0", "m2"]
    assert found.left_out == {"m1": "it cannot be judged (OverflowError)"}


def test_a_claim_that_another_run_declared_differently_is_not_compared(write: Write) -> None:
    found = named(write(2.0), write(2.0, claims=[{"published": {"ratio": 3.0}}]), write(2.0, claims=[]))
    assert only(found).said == [AS_PUBLISHED, machines.NOT_RUN, machines.NOT_RUN]
    assert only(found).summary is None


def test_a_substitute_is_no_part_of_the_mean(write: Write) -> None:
    claims = [{"substitutes": {CNOS: OTHER}}]
    found = named(
        write(2.0, claims=claims),
        write(2.0, claims=claims, factors={"system": [OTHER, INFLUX]}),
        write(2.1, claims=claims),
    )
    assert only(found).said == [AS_PUBLISHED, machines.NOT_RUN, AS_PUBLISHED]
    made = only(found).summary
    assert made is not None
    assert made.machines == 2


def test_cases_that_differ_have_a_mean_each(write: Write) -> None:
    def by_size(levels: dict[str, Any]) -> float:
        return 2.0 if levels["batch_size"] == 1 else 0.5

    claims = [{"across": ["batch_size"]}]
    factors = {"system": [CNOS, INFLUX], "batch_size": [1, 1000]}
    one = only(named(*(write(by_size, claims=claims, factors=factors) for _ in range(3))))
    assert one.summary is None
    assert [case.statement for case in one.cases] == ["batches of 1", "batches of 1,000"]
    means = [math.exp(case.summary.fit.centre) for case in one.cases if case.summary]
    assert means == pytest.approx([2.0, 0.5], rel=0.01)


def test_a_limit_that_all_trials_share_is_one_of_the_machine(write: Write) -> None:
    limited = [
        write(2.0, factors={"system": [CNOS, INFLUX], "cpu_limit": [cores], "memory_limit": ["512MiB"]})
        for cores in (1, 2)
    ]
    found = named(*limited, write(2.0))
    assert only(found).said == 3 * [AS_PUBLISHED]
    assert not found.left_out


def test_runs_on_one_processor_are_named(write: Write) -> None:
    found = named(write(2.0, processor="a"), write(2.0, processor="b"), write(2.0, processor="a"))
    assert found.same_processor == [["m0", "m2"]]


def test_copies_of_a_virtual_machine_on_other_processors_are_not_one(write: Write) -> None:
    found = named(write(2.0, machine="a"), write(2.0, machine="a", processor="Another"))
    assert found.same_processor == []


def test_without_claims_comparisons_are_counted(write: Write) -> None:
    def found(*ratios: float) -> Machines:
        return named(*(write(1 / ratio, claims=[], seconds=lambda levels, block: 5.0) for ratio in ratios))

    assert counted(only(found(0.5, 0.51))) == "worse on 2 machines"
    assert only(found(0.5, 2.0)).dependence == "direction"
    assert found(2.0, 2.0).noun == "comparison"
    mixed = found(2.0, 2.0, 0.5)
    assert counted(only(mixed)) == "better on 2 machines; worse on 1"
    made = only(mixed).summary
    assert made is not None
    assert made.machines == 3


def test_a_deviation_in_versions_is_listed(write: Write) -> None:
    programs = [{CNOS: {"version": version, "source": "docker"}} for version in ("2.0.1", "2.0.2")]
    found = named(*(write(2.0, programs=one) for one in programs))
    assert [one.what for one in found.deviations("m1")] == [f"version of {CNOS}"]
    assert found.deviations("m0") == []


def test_runs_of_two_experiments_are_refused(write: Write) -> None:
    with pytest.raises(
        RequestError, match="m1 is a run of seaweedfs-vs-postgres, and m0 one of cnos-vs-influx"
    ):
        named(write(2.0), write(2.0, name="seaweedfs-vs-postgres"))


def test_a_run_of_which_every_trial_was_skipped_is_compared_and_answers_nothing(write: Write) -> None:
    def skipped(levels: dict[str, Any], block: int) -> tuple[str, str]:
        return "skipped", "it is unavailable here"

    found = named(write(2.0, status=skipped), write(2.0))
    assert only(found).said[0].holds == "out of reach here"
    assert list(found.left_out.values()) == ["it has no setup in common with the first run"]
