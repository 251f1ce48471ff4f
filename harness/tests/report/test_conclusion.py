"""Sentences of a report: computed numbers, and only justified claims."""

from __future__ import annotations

import json
import re
from statistics import median

import pytest

from benchbook.analyse import comparison, quantity, rules, same_work
from benchbook.analyse.comparison import estimates
from benchbook.analyse.run import open_run
from benchbook.record import database
from benchbook.report import conclusion
from benchbook.report.charts import ratio
from benchbook.report.table import Markdown
from benchbook.report.tables import cost, environment, verdicts, work
from tests.claims import measured_run
from tests.report.test_report_parts import changed


def test_the_answer_is_a_sentence_on_loading_and_one_on_queries(made):
    words = conclusion.answer_sentence(made()).markdown
    assert words.count(". ") == 1
    assert re.search(r"DuckDB 1\.5\.6 is \d\.\d+ times as fast as SQLite", words)
    assert "4 of 4 query types" in words


def test_two_trials_give_no_verdict(made):
    words = conclusion.answer_sentence(made(blocks=2)).markdown
    assert "times as fast" not in words
    assert "no verdict" in words
    assert re.search(r"4 of 4 query types are not judged \(.*at least 3\)", words)
    assert "no system is ahead" not in words


def test_failed_operations_forbid_any_verdict(made):
    run = made()
    with database.open(run.results) as connection:
        connection.execute(
            "INSERT INTO errors SELECT trial_id, 'load', 'timeout', NULL, 'slow', 3, 0 FROM trials WHERE \"index\" = 0"
        )
    words = conclusion.answer_sentence(run).markdown
    assert "3 operations failed" in words
    assert "at loading, no verdict" in words


def test_where_the_offered_rate_is_not_reached_latency_is_neither_shown_nor_ranked(made):
    run = made()
    [phase, *_] = run.phases("query")
    with database.open(run.results) as connection:
        connection.execute(
            "INSERT INTO measurements SELECT trial_id, ?, metric, value, unit, 'none' FROM trials, (VALUES "
            "('saturated', 1, '1'), ('offered_per_second', 9e6, '1/s')) AS m (metric, value, unit) "
            "WHERE system LIKE 'sqlite%'",
            [phase],
        )
    held = {one.cell.system: one for one in estimates(run, phase, "latency_p50")}
    assert {system: bool(one.points) for system, one in held.items()} == {"duckdb": True, "sqlite": False}
    assert all(one.points for one in estimates(run, phase, "queries_per_second"))
    base = comparison.baseline(run)
    assert comparison.against(run, phase, "latency_p50", base) == []
    assert comparison.against(run, phase, "queries_per_second", base)
    words = conclusion.answer_sentence(run).markdown
    assert "3 of 4 query types" in words
    slow = next(cell for cell in run.cells if cell.system == "sqlite")
    reached = quantity.number(median(run.values(slow, (phase, "queries_per_second")).by_block.values()))
    trials = len(run.values(slow, (phase, "queries_per_second")).by_block)
    assert (
        f"saturated in {phase}: in {trials} of {trials} trials it reached {reached} of 9,000,000 offered"
        in words
    )
    assert "no system is ahead" not in words


def test_a_trial_in_which_the_offered_rate_was_not_reached_is_in_no_ratio_of_latencies(made):
    run = made()
    [phase, *_] = run.phases("query")
    blocks = len(run.values(run.cells[0], (phase, "queries_per_second")).by_block)
    [(slow, trial_id), *_] = [(cell, one) for cell in run.cells for one in
                              run.values(cell, (phase, "queries_per_second")).trial_ids.values()]  # fmt: skip
    with database.open(run.results) as connection:
        connection.execute(
            "INSERT INTO measurements VALUES (?, ?, 'saturated', 1, '1', 'lower')", [trial_id, phase]
        )
    run = open_run(run.results)
    [latency] = comparison.against(run, phase, "latency_p50", comparison.baseline(run))
    [rate] = comparison.against(run, phase, "queries_per_second", comparison.baseline(run))
    assert (latency.ratio.trials, rate.ratio.trials) == (blocks - 1, blocks)
    lost = run.lost(slow, (phase, "latency_p50"))
    assert (lost.trials, lost.because.code) == (1, "saturated")
    assert run.lost(slow, (phase, "queries_per_second")) is None


def test_servers_are_not_ranked_against_embedded_systems(made):
    run = made(systems=("duckdb", "sqlite", "influxdb-1.8.10"))
    answered = conclusion.answer_sentence(run).markdown
    assert "InfluxDB 1.8.10, the only server here, loaded" in answered
    assert "it is not ranked against embedded systems" in answered
    assert "faster than InfluxDB" not in answered
    listed = conclusion.findings(run).markdown
    assert "not ranked" in listed
    assert "include the transport" in listed
    assert "Servers and embedded systems are not ranked together" in conclusion.limits(run).markdown.replace(
        "&#39;", "'"
    )


def test_what_is_not_ranked_is_in_no_chart_of_ratios(made):
    run = made(systems=("duckdb", "sqlite", "influxdb-1.8.10"))
    drawn = ratio.chart(run)
    rates = [row for row in drawn.table.rows if "disk" not in row[0]]
    assert rates
    assert not any("InfluxDB" in cell for row in rates for cell in row)
    assert "not ranked together, so the chart shows only the size on disk for InfluxDB 1.8.10" in drawn.note
    queries = ratio.chart(run, "query")
    assert not any("disk" in row[0] for row in queries.table.rows)
    assert "not ranked together, so the chart leaves out InfluxDB 1.8.10" in queries.note


def test_ratios_of_one_workload_are_those_of_its_phases(plain):
    drawn = ratio.chart(plain, "query")
    assert drawn.table.rows
    assert {row[0].partition(", ")[2] for row in drawn.table.rows} == set(plain.phases("query"))
    assert len(drawn.table.rows) < len(ratio.chart(plain).table.rows)


def test_many_metrics_have_one_line_each(plain, monkeypatch):
    apart = ratio.chart(plain).spec
    monkeypatch.setattr(ratio, "MOST_LINES", 1)
    close = ratio.chart(plain).spec
    assert close["height"] < apart["height"]
    assert "yOffset" in str(apart)
    assert "yOffset" not in str(close)


def test_a_load_under_a_second_has_a_ratio_and_no_verdict(made):
    plain = changed(made, "UPDATE phases SET duration_seconds = 0.074 WHERE phase = 'load'")
    assert next(row for row in ratio.chart(plain).table.rows if row[0] == "Rows loaded per second")
    words = conclusion.answer_sentence(plain).markdown
    assert "at loading, no verdict on DuckDB 1.5.6 and SQLite 3.45.1: the phase load lasted 0.07" in words


def test_the_answer_is_as_strict_as_the_comparisons_of_the_page(made, monkeypatch):
    asked = []
    plain = comparison.Versus.verdict

    def verdict(pair, adjusted=None, among=1):
        asked.append((pair.above.phase, adjusted, among))
        return plain(pair, adjusted, among)

    run = made()
    page = comparison.ranked(run)
    assert len(page) > 1
    monkeypatch.setattr(comparison.Versus, "verdict", verdict)
    comparison.verdicts(page)
    of_page, *_ = [one for one in asked if one[0] == "load"]
    asked.clear()
    conclusion.answer_sentence(run)
    [of_answer] = [one for one in asked if one[0] == "load"]
    assert of_answer == (of_page[0], pytest.approx(of_page[1]), of_page[2])
    asked.clear()
    comparison.verdicts(page[:1])
    assert asked[0][2] == 1


def test_answer_and_comparison_give_the_ratio_of_a_load_in_one_direction(made):
    """The baseline is declared, so the ratio may lie below 1; the sentence states it from the faster one's side."""
    run = made()
    compared = next(row for row in ratio.chart(run).table.rows if row[0] == "Rows loaded per second")
    answered = conclusion.answer_sentence(run).markdown
    assert (compared[1], float(compared[2]) < 1) == ("SQLite 3.45.1", True)
    stated = re.search(r"DuckDB 1\.5\.6 is ([\d.]+) times as fast as SQLite 3\.45\.1", answered)
    assert stated is not None
    assert float(stated[1]) == pytest.approx(1 / float(compared[2]), rel=0.01)


def test_the_durability_of_a_server_given_by_its_address_is_unknown(plain):
    programs = plain.facts("programs")
    programs["duckdb"]["url"] = "http://198.51.100.7:8086"
    try:
        rows = {row[0]: row[2:-1] for row in environment.durability_table(plain).rows}
    finally:
        del programs["duckdb"]["url"]
    assert {cell for title, cells in rows.items() if "DuckDB" in title for cell in cells} == {
        "unknown: a running server"
    }
    assert "at every commit" in {cell for title, cells in rows.items() if "SQLite" in title for cell in cells}


def test_the_ceiling_of_the_client_is_told(made):
    words = cost.ceiling_sentence(made(systems=("duckdb", "influxdb-1.8.10"))).markdown
    assert "1,900,000 rows/s" in words
    assert "InfluxDB 1.8.10 came closest to that, with 4." in words


def test_an_empty_answer_everywhere_proves_nothing(made):
    run = made(instances=2)
    with database.open(run.results) as connection:
        connection.execute("UPDATE answers SET rows = '[]', row_count = 0 WHERE query_type = 'groupby'")
    assert [one.code for one in same_work.faults(run)] == ["answers-empty"]
    assert conclusion.answer_sentence(run).markdown.startswith("No answer")


def test_limits_say_what_was_not_controlled(plain):
    words = conclusion.limits(plain).markdown
    assert "turbo" in words
    assert "3 valid trials" in words
    assert "inside the client" in words


def test_limits_say_where_workers_waited_for_the_record(made):
    run = made()
    trial = run.ok["trial_id"][0]
    with database.open(run.results) as connection:
        for phase, seconds in (("load", 2.5), ("groupby", 1e-6)):
            row = [trial, phase, "record_stall_seconds", seconds, "s", "lower"]
            connection.execute("INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?)", row)
    words = conclusion.limits(run).markdown
    assert "waited up to 2.5\N{NO-BREAK SPACE}s" in words
    assert "operations in phase load" in words
    assert "groupby" not in words


def test_limits_say_where_the_generator_was_the_bottleneck(made):
    run = made(systems=("duckdb", "influxdb-1.8.10"))
    trials = run.ok.filter(run.ok["system"] == "influxdb-1.8.10")["trial_id"][:2]
    with database.open(run.results) as connection:
        for trial in trials:
            row = [trial, "load", "generator_bound", 1.0, "1", "lower"]
            connection.execute("INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?)", row)
    found = open_run(run.results, run.run_id)
    words = conclusion.limits(found).markdown
    assert "Benchload limited the result of InfluxDB 1.8.10 in phase load" in words
    assert "more than half of the time in 2 trials" in words
    assert "of DuckDB" not in words
    assert rules.client(found).mark == "partly"


def test_every_gap_has_its_reason(made):
    run = made(status={1: ("skipped", "no such program")}, trials=4, finished=False)
    table = work.gaps_table(run)
    assert [row[3] for row in table.rows] == ["skipped", "not run"]
    assert "no such program" in table.rows[0][4]
    assert isinstance(work.gaps_table(made(run_id="quickstart-20260302T000000-0001", seed=2)), Markdown)


def test_pins_and_durability_stand_side_by_side(plain):
    assert [row[2] for row in environment.pins_table(plain).rows] == ["1.5.6", "3.45.1"]
    assert {row[2] for row in environment.durability_table(plain).rows} == {"at every commit"}


def test_each_source_of_a_system_is_a_pin_of_its_own(made):
    run = made()
    run_file = run.results / "runs" / run.run_id / "run.json"
    facts = json.loads(run_file.read_text())
    sqlite = facts["programs"].pop("sqlite")
    facts["programs"] |= {
        "sqlite from go": {**sqlite, "source": "go"},
        "sqlite from docker": {"unavailable": "no Docker engine answers"},
    }
    run_file.write_text(json.dumps(facts))
    for place in (run.results / "runs" / run.run_id / "trials").iterdir():
        trial = json.loads((place / "trial.json").read_text())
        if trial["system"] == "sqlite":
            trial["levels"]["source"] = "go" if trial["block"] else "docker"
            if not trial["block"]:
                trial |= {"status": "skipped", "version_reported": None}
            (place / "trial.json").write_text(json.dumps(trial))
    database.rebuild(run.results)
    rows = environment.pins_table(open_run(run.results, run.run_id)).rows
    assert [row[2:4] for row in rows] == [
        ["1.5.6", "python"], ["never ran", "docker: unavailable"], ["3.45.1", "go"],
    ]  # fmt: skip


def with_program(run, **changes):
    """Return a run whose SQLite is a program given by its path, as run.json states it."""
    run_file = run.results / "runs" / run.run_id / "run.json"
    facts = json.loads(run_file.read_text())
    facts["programs"]["sqlite"] |= {"source": "given", "path": "…/sqlited", "detail": "given"} | changes
    run_file.write_text(json.dumps(facts))
    database.rebuild(run.results)
    return open_run(run.results, run.run_id)


def details(run):
    return environment.pins_table(run).rows[1][4]


def test_the_origin_of_a_program_given_by_its_path_is_shown(made):
    run = with_program(
        made(), origin="image a/sqlited:v3", size=2_500_000, libraries=["libc.so.6 => /lib/libc.so.6"]
    )
    assert details(run) == (
        "given; origin, as stated by the user: image a/sqlited:v3; 2.50 MB; loads libc.so.6"
    )
    assert "does not state where" not in conclusion.limits(run).markdown


@pytest.mark.parametrize("origin", [None, "somewhere", 5, "image a:1\x1b[2J", "image a:1\nb", "x" * 10_000])
def test_a_program_without_a_readable_origin_is_a_limit(made, origin):
    run = with_program(made(), origin=origin, size="big", libraries="none")
    assert details(run) == "given; origin not stated"
    assert (
        "The run does not state where the program of SQLite 3.45.1 comes from: it was given by its path."
        in conclusion.limits(run).markdown
    )


def test_markup_in_an_origin_stays_text(made):
    run = with_program(made(), origin="built from <script>alert(1)</script> of a|b with *c*")
    table = environment.pins_table(run)
    assert "<script>" not in table.html() + table.markdown()
    assert "&lt;script&gt;" in table.html()


def test_the_commands_repeat_the_run(plain):
    words = verdicts.rerun_commands(plain).markdown
    assert f"./bench rerun {plain.run_id}" in words
    assert "./bench run quickstart --order-seed 1" in words
    assert "…" not in words


def test_the_commands_of_a_project_name_its_own_revision(plain, monkeypatch):
    project = {"name": "mine", "git_revision": "a" * 40, "git_dirty": True, "git_detail": ""}
    facts = {**plain.facts("provenance"), "project": project, "git_revision": "b" * 40}
    monkeypatch.setattr(type(plain), "facts", lambda self, topic: facts if topic == "provenance" else {})
    words = verdicts.rerun_commands(plain).markdown
    assert f"benchbook rerun {plain.run_id}" in words
    assert "Or without `rerun`, in a clone of the project mine:" in words
    assert f"git checkout {'a' * 40}\nbenchbook run quickstart --order-seed 1" in words
    assert "b" * 40 not in words
    assert "./bench" not in words
    assert "uncommitted changes" in words
    assert rules.provenance(plain).mark == "partly"


def test_a_private_path_in_the_command_is_explained(plain, monkeypatch):
    given = json.dumps(["bench", "run", "quickstart", "--system", "sqlite=…/sqlite3"])
    monkeypatch.setitem(plain.info, "argv", given)
    assert "Replace … by a folder on your machine" in verdicts.rerun_commands(plain).markdown


def test_phases_of_other_workloads_are_part_of_the_answer(tmp_path, monkeypatch):
    ahead = {
        ("put", "objects_per_second"): 2.0,
        ("get", "objects_per_second"): 3.0,
        ("get", "latency_p99"): 4.0,
        ("scan", "objects_per_second"): 1.0,
    }

    def value(levels, block):
        first = levels["system"] == "duckdb"
        wide = 0.05 * (-1) ** (block + first)
        return {
            pair: (factor if first else 1.0) * (1 + (wide if factor == 1 else 0.001 * block))
            for pair, factor in ahead.items()
        }

    run_id = measured_run.write(tmp_path, "run-1", {"system": ["duckdb", "sqlite"]}, value, name="quickstart")
    monkeypatch.setattr(comparison, "metrics", lambda _: [*ahead])
    words = conclusion.answer_sentence(open_run(tmp_path, run_id)).markdown
    assert words == (
        "On this machine, duckdb is ahead of all others in 2 of 4 comparisons (put and objects per second of get), and "
        "of the next one by a factor of 2.00 to 3.00. sqlite is ahead of all others in 1 of 4 comparisons (99th "
        "percentile of latency of get), and of the next one by a factor of 4.00. In 1 of 4 comparisons, no system is "
        "ahead of all others."
    )
