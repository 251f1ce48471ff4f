"""Counts and means on pages. Each of these mistakes would make a page say something false."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from benchbook.analyse import model, rules
from benchbook.analyse.run import Run
from benchbook.report import conclusion, limits, reasons
from benchbook.report.charts import telemetry
from benchbook.report.table import Block, Table
from benchbook.report.tables import cost, work
from tests.report.test_report_parts import changed
from tests.report.test_storage import Trials

Made = Callable[..., Run]
MEMORY_OF_SERVER, MEMORY_OF_CLIENT = telemetry.PANELS[2:4]
FIRST = """trial_id LIKE '%/0000'"""


def measured(phase: str, metric: str, by_trial: dict[int, float]) -> list[str]:
    """Return statements that add a metric to trials, by their index."""
    return [
        f"INSERT INTO measurements SELECT trial_id, '{phase}', '{metric}', {value}, '1', 'none' FROM trials "
        f'WHERE "index" = {index}'
        for index, value in by_trial.items()
    ]


def test_values_belong_to_their_trials_whatever_the_order_of_the_rows(made: Made) -> None:
    before = {pair: (one.places.tolist(), one.values.tolist()) for pair, one in made().measured.items()}
    run = changed(
        made,
        "CREATE TEMP TABLE moved AS SELECT * FROM measurements",
        "DELETE FROM measurements",
        "INSERT INTO measurements SELECT * FROM moved ORDER BY trial_id DESC, metric",
    )
    assert {pair: (one.places.tolist(), one.values.tolist()) for pair, one in run.measured.items()} == before


def test_no_latency_of_a_saturated_phase_means_something(made: Made) -> None:
    run = changed(made, *measured("groupby", "saturated", {0: 1.0}))
    for name in ("latency_mean", "latency_p50", "latency_max"):
        assert run.meaningful("groupby", name).places.tolist() == [1, 2, 3, 4, 5]
        for validity in ("trial", "phase"):
            assert sum(len(run.values(cell, ("groupby", name), validity).by_block) for cell in run.cells) == 5
    assert len(run.meaningful("groupby", "queries_per_second")) == 6


def test_a_cell_ran_a_phase_if_any_of_its_trials_that_count_did(made: Made) -> None:
    run = made(status={0: ("failed", "it died")})
    assert set(run.tried["load"].values()) == {True}


def test_a_check_that_is_optional_is_no_passed_one(made: Made) -> None:
    """It passes whatever it finds."""
    run = changed(made, f"UPDATE checks SET kind = 'optional' WHERE {FIRST}")
    passed, failed = (sum(counts) for counts in zip(*run.checks.values(), strict=True))
    assert (passed, failed) == (10, 0)
    assert (
        reasons.why(rules.same_work(run)) == "10 checks passed; 2 others count rows that the system may lose"
    )


def test_a_failed_check_is_not_a_passed_one(made: Made) -> None:
    run = changed(made, f"UPDATE checks SET ok = false WHERE kind = 'rows' AND {FIRST}")
    assert sorted(run.checks.values()) == [(5, 1), (6, 0)]
    table = work.checks_table(run)
    assert isinstance(table, Table)
    assert [row[2:4] for row in table.rows] == [["5", "1"]]


def test_operations_that_were_sent_again_are_shown_though_none_failed(made: Made) -> None:
    run = changed(made, f"UPDATE measurements SET value = 23 WHERE metric = 'retries' AND {FIRST}")
    table = work.checks_table(run)
    assert isinstance(table, Table)
    [row] = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert (row["Failed operations"], row["Operations sent again"]) == ("0", "23")
    said = work.checks(run)
    assert isinstance(said, Block)
    assert "Operations sent again" in said.markdown
    assert "No check failed and no operation failed." in said.markdown


@pytest.mark.parametrize(
    ("places", "seconds", "values", "mean"),
    [
        ([0, 0, 1], [1.0, 4.0, 2.0], [8.0, 2.0, 5.0], 4.0),
        ([0, 0, 1, 1], [5.0, 10.0, 5.0, 10.0], [1.0, 1.0, 3.0, 3.0], 2.0),
    ],
)
def test_the_mean_of_samples_is_over_the_time_of_each_trial(
    places: list[int], seconds: list[float], values: list[float], mean: float
) -> None:
    found = telemetry.Samples(np.array(places), np.array(seconds), np.array(values))
    assert found.mean() == pytest.approx(mean)


def test_a_sample_of_two_phases_counts_once(made: Made) -> None:
    before = telemetry.samples(made(), MEMORY_OF_CLIENT)
    copied = "INSERT INTO telemetry SELECT * REPLACE ('next' AS phase) FROM telemetry WHERE seconds = 0.5"
    found = telemetry.samples(changed(made, copied), MEMORY_OF_CLIENT)
    assert found.values.tolist() == before.values.tolist()


def test_the_panels_of_the_server_leave_embedded_systems_out(made: Made) -> None:
    run = made(systems=("duckdb", "influxdb-1.8.10"))
    found = telemetry.samples(run, MEMORY_OF_SERVER)
    assert {run.cells[cell].system for cell in run.places.cells[found.places]} == {"influxdb-1.8.10"}


def test_the_first_trials_of_a_cell_are_of_its_first_blocks(made: Made) -> None:
    run = made(status={0: ("failed", "it died")})
    found = telemetry.samples(run, MEMORY_OF_CLIENT)
    for code, cell in enumerate(run.cells):
        own = found.at(run.places.cells[found.places] == code)
        blocks = run.ok.filter(pl.col("cell") == cell.name)["block"].to_list()
        assert [block for block, _ in telemetry._first(run, own, 3)] == blocks


def test_the_largest_share_read_decides_whether_queries_read_from_memory() -> None:
    run = Trials(
        [
            ("w", "q", "server_read_bytes", 5e4), ("w", "q", "data_bytes", 5e6),
            ("w", "q", "data_unread_bytes", 4.95e6), ("w", "q2", "server_read_bytes", 4e6),
            ("w", "q2", "data_bytes", 5e6), ("w", "q2", "data_unread_bytes", 1e6),
        ]
    )  # fmt: skip
    run.queries = ["q", "q2"]
    assert "so they were not answered from memory alone" in cost.reads_sentence(run).markdown  # type: ignore[arg-type]


def test_a_small_share_that_was_read_is_named() -> None:
    run = Trials(
        [
            ("w", "q", "server_read_bytes", 2e6), ("w", "q", "data_bytes", 16e6),
            ("w", "q", "data_unread_bytes", 14e6),
        ]
    )  # fmt: skip
    said = cost.reads_sentence(run).markdown  # type: ignore[arg-type]
    assert "at most 12 % of the data; the rest came from memory." in said


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ([], "In all 1 warm trials"),
        ([("w2", "q", "server_read_bytes", 4e6)], "so they were not answered from memory alone"),
    ],
)
def test_trials_that_were_not_counted_do_not_speak_for_memory(
    others: list[tuple[str, str, str, float]], words: str
) -> None:
    known = [("w", "q", "data_bytes", 5e6), ("w", "q", "data_unread_bytes", 5e6)]
    run = Trials([("w", "q", "server_read_bytes", 0.0), *known, *others])
    run.ok = run.ok.vstack(run.ok.with_columns(trial_id=pl.col("trial_id") + "2"))
    assert words in cost.reads_sentence(run).markdown  # type: ignore[arg-type]


def test_the_workers_are_those_of_the_cell(made: Made) -> None:
    second = made().cells[1].name
    own = f"trial_id IN (SELECT trial_id FROM trials WHERE cell = '{second}')"
    run = changed(
        made,
        f"UPDATE levels SET factor = 'workers', level = '8' WHERE factor = 'storage' AND {own}",
        f"UPDATE measurements SET value = 8 * value WHERE metric = 'latency_mean' AND {own}",
    )
    found = rules.little(run)
    assert (found.mark, reasons.why(found)) == ("kept", "24 of 24 phases of trials agree")


def test_open_loops_are_not_judged_by_littles_law(made: Made) -> None:
    slower = "UPDATE measurements SET value = 9 * value WHERE metric = 'latency_mean' AND phase = 'groupby'"
    run = changed(made, slower, *measured("groupby", "offered_per_second", dict.fromkeys(range(6), 10.0)))
    found = rules.little(run)
    assert (found.mark, reasons.why(found)) == ("kept", "18 of 18 phases of trials agree")


@pytest.mark.parametrize(("phase", "mark"), [("1-host-1-hr", "kept"), ("load", "not kept")])
def test_bytes_read_after_the_load_show_that_caches_were_cold(made: Made, phase: str, mark: str) -> None:
    read = f"UPDATE measurements SET value = 4096 WHERE metric = 'server_read_bytes' AND phase = '{phase}'"
    none = "UPDATE measurements SET value = 0 WHERE metric = 'server_read_bytes'"
    assert rules.caches(changed(made, "UPDATE trials SET cache_state = 'cold'", none, read)).mark == mark


def test_a_phase_without_intervals_has_no_label(made: Made) -> None:
    run = changed(made, "DELETE FROM intervals WHERE phase = 'groupby' AND trial_id LIKE '%/0001'")
    assert reasons.why(rules.outliers(run)) == "1 phases of trials have no label of their pace"


def test_limits_name_the_worst_trial(made: Made) -> None:
    run = changed(
        made,
        *measured("load", "record_stall_seconds", {0: 2.5, 1: 0.0}),
        *measured("load", "machine_steal_fraction", {0: 0.015, 1: 0.0}),
    )
    words = " ".join(limits.limits(run))
    assert "waited up to 2.5" in words
    assert "stole up to 1.5" in words


def test_the_setup_with_fewest_trials_says_how_strong_a_run_is(made: Made) -> None:
    strength = conclusion.strength(made(blocks=10, status={0: ("failed", "it died")}))
    assert strength.startswith("9 to 10 trials of each setup, ")
    assert strength.endswith("(fewer than 10 trials)")
    assert "9 to 10 trials of each setup" in strength


def test_the_length_is_that_of_the_phase_in_question(made: Made) -> None:
    run = changed(made, "UPDATE phases SET duration_seconds = CASE phase WHEN 'load' THEN 7 ELSE 3 END")
    assert "median length of a phase 7.00" in conclusion.strength(run, "load")


def test_an_odd_number_of_values_has_one_location_as_an_array_too(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [math.tan(number) for number in range(model.LARGE + 1)]
    as_array = model.fit(values)
    monkeypatch.setattr(model, "LARGE", 10**9)
    alone = model.fit(values)
    assert as_array is not None
    assert alone is not None
    assert (as_array.centre, as_array.error) == pytest.approx((alone.centre, alone.error), rel=1e-6)
