"""Labels of the pace of load and query phases, which the list of trials and the limits show."""

from __future__ import annotations

from benchbook.analyse import limits
from benchbook.analyse.run import open_run
from benchbook.record import database
from benchbook.report import conclusion
from benchbook.report.tables import work


def with_rates(made, phase, *operations):
    """Give the phase of every trial intervals of a second with so many operations."""
    run = made(intervals=len(operations))
    with database.open(run.results) as connection:
        for place, count in enumerate(operations):
            connection.execute(
                "UPDATE intervals SET started_seconds = ?, duration_seconds = 1, operations = ?, rows = 0 "
                "WHERE phase = ? AND rowid IN (SELECT rowid FROM (SELECT rowid, row_number() OVER "
                "(PARTITION BY trial_id ORDER BY rowid) AS n FROM intervals WHERE phase = ?) WHERE n = ?)",
                [place, count, phase, phase, place + 1],
            )
    return open_run(run.results, run.run_id)


def test_queries_that_slow_down_all_the_time_are_drifting_and_stay_in_every_number(made):
    run = with_rates(made, "groupby", *range(200, 100, -8))
    assert limits.label_counts(run)["groupby"] == {"drifting": 6}
    words = conclusion.limits(run).markdown
    assert "In 6 of 6 valid trials, the rate of phase groupby never became steady" in words
    assert "groupby drifting" in str(work.trials_table(run).table.rows)
    assert len(run.numbers("groupby", "latency_p50")) == 6


def test_an_even_pace_is_steady_and_a_short_phase_is_not_judged(made):
    run = with_rates(made, "groupby", *[100, 101, 99, 100, 102, 98, 100, 101, 99, 100])
    assert limits.label_counts(run)["groupby"] == {"steady": 6}
    assert "never became steady" not in conclusion.limits(run).markdown
    short = made(run_id="quickstart-20260302T000000-0009", intervals=4)
    assert set(limits.labels(short).values()) == {"short"}


def test_a_slow_begin_is_told(made):
    run = with_rates(made, "groupby", *[20] * 4, *[100] * 12)
    assert limits.label_counts(run)["groupby"] == {"warming": 6}
    assert (
        "In 6 of 6 valid trials, the rate of phase groupby was different at first and steady later"
        in conclusion.limits(run).markdown
    )


def test_the_warm_up_has_no_part_in_the_pace(made):
    run = with_rates(made, "groupby", *[20] * 4, *[100] * 12)
    with database.open(run.results) as connection:
        connection.execute("UPDATE intervals SET warmup = true WHERE phase = 'groupby' AND operations = 20")
    assert limits.label_counts(open_run(run.results, run.run_id))["groupby"] == {"steady": 6}
