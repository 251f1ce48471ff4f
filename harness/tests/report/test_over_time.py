"""The heat map of latency, the chart of latency against throughput, and the label of a scaled run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchbook.analyse import scaled
from benchbook.analyse.cells import labelled
from benchbook.analyse.run import open_run
from benchbook.record import database
from benchbook.report import theme
from benchbook.report.charts import heatmap, rate_over_time, rates, strip, telemetry
from benchbook.report.figure import Figure, Figures
from benchbook.report.table import Markdown


def test_every_operation_of_the_intervals_is_in_the_map(plain):
    found = heatmap.maps(plain, "load")
    assert [one.cell.system for one in found] == ["duckdb", "sqlite"]
    for one in found:
        assert sum(field.operations for field in one.fields) == 3 * 6 * 40  # trials, intervals, operations
        assert all(field.low < field.high and field.begin < field.end for field in one.fields)


def test_the_map_names_when_the_longest_came(plain):
    figures = heatmap.chart(plain)
    assert isinstance(figures, Figures)
    for figure in figures.figures:
        assert "The longest," in figure.alt
        assert figure.table.rows
        assert figure.spec["encoding"]["y"]["scale"]["type"] == "log"


def test_without_intervals_a_sentence(made):
    said = heatmap.chart(made(status=dict.fromkeys(range(6), ("skipped", "nothing here"))))
    assert isinstance(said, Markdown)
    assert "is not shown:" in said.markdown


def a_system_that_fills_up():
    """Latency of a queue that reaches 10,000 operations per second, offered up to 16,000."""
    made = []
    for offered in (1000, 4000, 8000, 9500, 16000):
        achieved = min(offered, 10_000)
        latency = 0.001 / max(1 - offered / 10_000, 1e-3)
        trials = [(achieved * noise, latency * noise) for noise in (0.999, 1.0, 1.001)]
        made.append(rates.rate("duckdb", "DuckDB", offered, trials))
    return made


def test_a_rate_that_was_not_reached_shows_throughput_and_no_latency():
    found = a_system_that_fills_up()
    assert [one.saturated for one in found] == [False, False, False, False, True]
    assert found[-1].latency is None
    assert found[-1].achieved == pytest.approx(10_000, rel=0.01)
    figure = rates.figure(found, "Latency against throughput")
    assert "reached at most 10,000 per second" in figure.alt
    assert "the rate was not reached" in figure.table.rows[-1]
    assert len(figure.table.rows) == 5
    assert "<svg" in figure.svg


def test_one_rate_is_no_curve(plain):
    said = rates.chart(plain, "1-host-1-hr")
    assert isinstance(said, Markdown)
    assert "two or more levels of the factor rate" in said.markdown


def test_the_curve_of_a_run_whose_trials_have_rates(made):
    import polars as pl

    run = made()
    trials = run.frame("trials")["trial_id"].to_list()
    rated = pl.DataFrame(
        {"trial_id": trials, "factor": "rate", "level": ["50", "50", "100", "100", "900", "900"]}
    )
    run._frames["levels"] = pl.concat([run.frame("levels"), rated])
    figure = rates.chart(run, "1-host-1-hr")
    assert isinstance(figure, Figure)
    assert {row[1] for row in figure.table.rows} == {"50.0", "100", "900"}


def test_every_trial_has_the_rates_of_its_intervals_in_order(made):
    import polars as pl

    run = made()
    held = run.frame("intervals").with_columns(
        pl.lit(1.0).alias("duration_seconds"),
        (-pl.int_range(pl.len())).cast(pl.Float64).alias("started_seconds"),  # the latest first
    )
    run._frames["intervals"] = held
    found = rate_over_time.trials(run, "load")
    assert [one.block for _, one in found] == run.ok["block"].to_list()
    for _, one in found:
        assert len(one.rates) == 6
        assert list(one.rates) == sorted(one.rates)
        assert {rate for _, rate in one.rates} == {32_400 // 6}
    assert isinstance(rate_over_time.chart(run), Figures)


def test_of_very_many_trials_some_lines_are_drawn(plain):
    cell = labelled(plain)[0]
    found = [
        rate_over_time.Trial(cell, block, ((1.0, 100.0 + block), (2.0, 200.0)), 1.0 if block % 2 else None)
        for block in range(500)
    ]
    listed = rate_over_time._table(found, rate_over_time.ROWS).rows
    assert len(listed) == rate_over_time.DRAWN_TRIALS
    assert (listed[0][1], listed[-1][1]) == ("1", "500")
    words = rate_over_time._alternative("Rows", "", found, rate_over_time.ROWS)
    assert "500 trials, 250 of them steady: 100 rows/s to 599 rows/s" in words


def test_without_the_machine_of_the_publication_no_label(made):
    run = made(profile="published")
    assert scaled.of_run(run) is None
    assert theme.scaled_title(run, "Rows") == "Rows"


def test_a_run_of_the_published_size_on_a_smaller_machine_is_labelled(made):
    import json

    run = made(profile="published")
    experiment = json.dumps({"published_machine": {"cores": 16, "memory_gb": 256}})
    cpu = json.dumps({"logical_cores": 2})
    with database.open(run.results) as connection:
        for topic, key, value in (("declared", "experiment", experiment), ("host", "cpu", cpu)):
            connection.execute("DELETE FROM run_facts WHERE topic = ? AND key = ?", [topic, key])
            connection.execute("INSERT INTO run_facts VALUES (?, ?, ?, ?)", [run.run_id, topic, key, value])
    run = open_run(run.results, run.run_id)
    figure = strip.throughput(run)
    assert isinstance(figure, Figure)
    assert figure.title.endswith("(scaled)")


def test_bytes_over_time_are_drawn_with_their_unit(plain):
    found = rate_over_time.chart(plain, "load", replace(rate_over_time.BYTES, shortest_seconds=0.001))
    assert isinstance(found, Figures)
    assert "Bytes per second over time, load" in found.figures[0].title
    assert "B/s" in found.figures[0].alt
    assert "rows" not in found.figures[0].alt


def test_cells_of_one_system_differ_in_their_dashes():
    systems, labels = ["sqlite", "duckdb", "sqlite"], ["a", "b", "c"]
    dashes = theme.dashes(systems, labels).to_dict()["range"]
    assert dashes[0] != dashes[2]
    assert (
        theme.colours(systems, labels).to_dict()["range"][0]
        == theme.colours(systems, labels).to_dict()["range"][2]
    )


@pytest.mark.parametrize(
    ("labels", "columns"), [(["DuckDB", "SQLite"], None), (["SQLite, storage minio-s3fs"], 1)]
)
def test_a_long_label_has_a_line_of_the_legend_to_itself(labels, columns):
    assert theme.legend(labels).to_dict().get("columns") == columns


def test_only_chosen_cells_are_drawn(plain):
    [cell, other] = labelled(plain)
    assert cell.at({"system": cell.system})
    assert not cell.at({"system": [other.system]})
    assert cell.at({"a factor that it lacks": "x"})
    found = strip.chart(plain, "load", "rows_per_second", only={"system": [cell.system]})
    assert isinstance(found, Figure)
    assert other.label not in found.alt
    drawn = telemetry.chart(plain, only={"system": cell.system})
    assert isinstance(drawn, Figures)
    assert all(other.label not in one.alt for one in drawn.figures)
