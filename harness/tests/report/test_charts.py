"""Charts: not empty, with texts from the data and suitable axes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from benchbook.analyse.cells import chosen, labelled
from benchbook.analyse.run import Run
from benchbook.report.charts import latency, order, ratio, strip, telemetry
from benchbook.report.figure import Figure, Figures
from benchbook.report.table import Markdown
from benchbook.report.theme import ticks, value
from tests.claims import measured_run

CHARTS = [
    strip.throughput,
    strip.size_on_disk,
    latency.query_types_chart,
    latency.percentiles_chart,
    ratio.chart,
    order.chart,
    telemetry.chart,
]


@pytest.mark.parametrize("chart", CHARTS)
def test_with_data_a_chart(plain, chart):
    assert isinstance(chart(plain), Figure | Figures)


@pytest.mark.parametrize("chart", CHARTS)
def test_without_data_a_sentence_that_says_why(made, chart):
    run = made(status=dict.fromkeys(range(6), ("skipped", "nothing here")))
    said = chart(run)
    assert isinstance(said, Markdown)
    assert "is not shown:" in said.markdown


@pytest.mark.parametrize(
    "chart",
    [strip.throughput, strip.size_on_disk, latency.query_types_chart, latency.percentiles_chart, ratio.chart],
)
def test_differing_answers_refuse_every_comparison(made, chart):
    said = chart(made(wrong_answers_of="sqlite"))
    assert isinstance(said, Markdown)
    assert "did not give the same answers" in said.markdown


def test_every_trial_is_a_point_and_the_interval_is_drawn(plain):
    figure = strip.throughput(plain)
    layers = figure.spec["layer"]
    data = [
        figure.spec["datasets"][layer["data"]["name"]] if "name" in layer["data"] else layer["data"]["values"]
        for layer in layers
    ]
    assert [len(rows) for rows in data[:3]] == [2, 6, 2]
    assert all(row["outlier"] for rows in data[3:] for row in rows), "more layers only mark outliers"
    assert all(row["low"] < row["value"] < row["high"] for row in data[0])


def test_a_cell_without_trials_keeps_its_row(made):
    whole = made(run_id="quickstart-20260302T000000-0000")
    indices = [row["index"] for row in whole.frame("trials").to_dicts() if row["system"] == "sqlite"]
    run = made(status=dict.fromkeys(indices, ("failed", "it died")), run_id="quickstart-20260302T000000-0001")
    figure = strip.throughput(run)
    assert "SQLite 3.45.1 was not measured" in figure.alt
    assert any(row[3] == "not measured" for row in figure.table.rows)
    assert "not measured" in figure.svg


def test_a_system_of_which_nothing_was_measured_has_one_row(made):
    whole = made(batch_sizes=(1000, 5000), run_id="quickstart-20260302T000000-0000")
    indices = [row["index"] for row in whole.frame("trials").to_dicts() if row["system"] == "sqlite"]
    status = dict.fromkeys(indices, ("skipped", "no program"))
    run = made(batch_sizes=(1000, 5000), status=status, run_id="quickstart-20260302T000000-0001")
    assert [row[0] for row in strip.throughput(run).table.rows] == [
        "DuckDB 1.5.6, batch size 1000",
        "DuckDB 1.5.6, batch size 5000",
        "SQLite 3.45.1",
    ]


@pytest.mark.parametrize("chart", [strip.throughput, strip.size_on_disk])
def test_only_the_cells_of_some_levels(made, chart):
    found = chart(made(batch_sizes=(1000, 5000)), only={"batch_size": "1000"})
    assert [row[0] for row in found.table.rows] == ["DuckDB 1.5.6", "SQLite 3.45.1"]


def test_telemetry_of_the_cells_of_some_levels(made):
    found = telemetry.chart(made(batch_sizes=(1000, 5000)), only={"batch_size": "1000"})
    for figure in found.figures:
        assert {row[0] for row in figure.table.rows} <= {"DuckDB 1.5.6", "SQLite 3.45.1"}


def test_a_title_with_a_comma_stays_whole_in_labels(made, monkeypatch):
    monkeypatch.setattr(
        Run, "title", lambda run, system: {"sqlite": "SQLite, in memory", "duckdb": "SQLite"}[system]
    )
    run = made(batch_sizes=(1000, 5000))
    assert {one.label for one in chosen(run, {"batch_size": "1000"}).values()} == {
        "SQLite", "SQLite, in memory",
    }  # fmt: skip
    assert {one.title for one in labelled(run)} == {"SQLite", "SQLite, in memory"}


def test_a_long_title_of_a_horizontal_axis_is_in_lines(plain):
    import altair as alt

    title = "Time that a put takes in PostgreSQL over that in SeaweedFS"
    drawn = alt.Chart(alt.InlineData(values=[])).mark_point().encode(x=alt.X("a:Q", title=title), y="b:Q")
    found = Figure("T", alt.layer(drawn, drawn), "", strip.throughput(plain).table).spec
    for layer in found["layer"]:
        assert layer["encoding"]["x"]["title"] == [
            "Time that a put takes in",
            "PostgreSQL over that in SeaweedFS",
        ]


def test_the_words_of_a_chart_name_every_system_with_its_number(plain):
    words = strip.chart(plain, "load", "rows_per_second").alt
    assert "DuckDB 1.5.6" in words
    assert "SQLite 3.45.1" in words
    assert "95 % CI" in words


def test_a_metric_nobody_measured_is_a_sentence(plain):
    assert "Rows per fortnight is not shown" in strip.chart(plain, "load", "rows_per_fortnight").markdown


def test_the_axis_is_logarithmic_beyond_a_factor_of_20():
    assert value([1.0, 19.0], "x")[0].to_dict().get("type") is None
    assert value([1.0, 21.0], "x")[0].to_dict()["type"] == "log"
    assert value([0.0, 21.0], "x")[0].to_dict().get("type") is None


@pytest.mark.parametrize(
    ("low", "high"), [(0.9, 1.1), (0.5, 2.2), (3, 140), (0.001, 5000), (0.99, 1.004), (7, 7.4)]
)
def test_every_logarithmic_axis_has_a_few_round_ticks(low, high):
    found = ticks(low, high)
    assert 2 <= len(found) <= 9
    assert all(low <= tick <= high for tick in found)


def test_no_more_cores_are_used_than_there_are_and_none_is_lost():
    counted = [(0.0, 0.0), (1.0, 0.5), (2.0, 1.0), (3.0, 5.0), (3.2, 5.1), (4.0, 6.0)]
    brief, alone, falls = [(0.0, 0.0), (1.0, 9.0)], [(1.0, 7.0)], [(0.0, 5.0), (1.0, 1.0), (2.0, 2.0)]
    limited = [[(1.0, 1.0), (2.0, 2.0), (3.0, 2.0), (4.0, 1.0)], [(1.0, 9.0)], [], [(2.0, 1.0)]]
    free = [[(1.0, 0.5), (2.0, 0.5), (3.0, 4.0), (4.0, 1.0)], [(1.0, 9.0)], [], [(2.0, 1.0)]]
    assert _rates([counted, brief, alone, falls], most=2) == limited
    assert _rates([counted, brief, alone, falls]) == free


@pytest.mark.parametrize("most_at_once", [1, 7, 1000])
def test_rates_do_not_depend_on_how_many_trials_are_computed_at_once(most_at_once, monkeypatch):
    chance = random.Random(most_at_once)
    trials = [
        sorted((chance.uniform(0, 9), chance.choice([0.0, 1.0, 4.0])) for _ in range(chance.randrange(1, 9)))
        for _ in range(30)
    ]
    alone = [_rates([trial], most=2)[0] for trial in trials]
    monkeypatch.setattr(telemetry, "MOST_AT_ONCE", most_at_once)
    assert _rates(trials, most=2) == alone


def _rates(trials, most=None):
    """Return the rates of each trial, from its samples (seconds, value)."""
    rows = [(place, *sample) for place, trial in enumerate(trials) for sample in trial]
    place, seconds, values = (np.array(column) for column in zip(*rows, strict=True))
    found = telemetry.rates(telemetry.Samples(place, seconds, values), most)
    made = [[] for _ in trials]
    for trial, *sample in zip(found.places, found.seconds.tolist(), found.values.tolist(), strict=True):
        made[trial].append(tuple(sample))
    return made


def test_telemetry_of_a_counter_that_goes_back_has_no_negative_rate(plain):
    for panel in telemetry.PANELS:
        assert not panel.cumulative or (telemetry.samples(plain, panel).values >= 0).all()


def test_each_phase_of_commands_is_drawn(tmp_path):
    phases = [
        {"phase": name, "workload": "program", "position": place, "started_seconds": 2.0 * place,
         "duration_seconds": 2.0, "timed": True}
        for place, name in enumerate(("pack", "unpack"))
    ]  # fmt: skip
    seconds = {"gzip": 3.0, "zstd": 1.0}

    def value(levels, block):
        return {(one["phase"], "command_seconds"): seconds[levels["system"]] + block / 100 for one in phases}

    def answers(levels):
        return [
            {"v": 1, "type": "answer", "phase": one["phase"], "query_type": one["phase"], "id": one["phase"],
             "digest": "d", "columns": ["time_ns", "host", "value"], "row_count": 1, "rows": [[1, "a", 2]]}
            for one in phases
        ]  # fmt: skip

    run_id = measured_run.write(
        tmp_path,
        "a",
        {"system": [*seconds]},
        value,
        changes=lambda levels: {"phases": phases},
        answers=answers,
    )
    run = Run(tmp_path, run_id)
    drawn = strip.others(run)
    assert [one.title.partition(":")[0] for one in drawn] == [
        "Run time of the command, pack", "Run time of the command, unpack",
    ]  # fmt: skip
    assert [len(one.table.rows) for one in drawn] == [2, 2]


def test_what_loads_and_asks_queries_has_charts_of_its_own(plain):
    assert strip.others(plain) == []


def test_each_setup_may_be_the_baseline(made):
    run = made(batch_sizes=(1000, 5000))
    drawn = ratio.chart(run)
    every = [drawn, *drawn.others]
    assert len({one.option for one in every}) == 4
    assert all(one.title.startswith(f"Compared with {one.option}: ") for one in every)
    ratios = {(row[0], row[1], one.option): float(row[2]) for one in every for row in one.table.rows}
    assert ratios
    for (metric, above, below), held in ratios.items():
        assert held * ratios[metric, below, above] == pytest.approx(1, rel=0.01)
    markup = drawn.html()
    assert markup.count('<figure class="bb-figure"') == 4
    assert markup.count(" hidden>") == 3
    assert drawn.markdown().count("data:image/svg+xml") == 1


def test_two_setups_have_one_baseline(plain):
    assert ratio.chart(plain).others == ()
