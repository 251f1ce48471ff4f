"""Parts of a report: titles, marks of short phases, published values, sizes by part, the setting."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchbook.analyse import claims, limits
from benchbook.analyse.reason import because
from benchbook.analyse.run import Run, open_run
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.publication import Publication
from benchbook.record import database
from benchbook.report import claim, conclusion, figure
from benchbook.report.charts import curve, disk, lead, strip
from benchbook.report.figure import Figure
from benchbook.report.reasons import text
from benchbook.report.table import Block, Markdown, Missing, Table, missing
from benchbook.report.tables import accounted, cost, folds, setting, work


def changed(made: Any, *statements: str, **options: Any) -> Run:
    run = made(**options)
    with database.open(run.results) as connection:
        for statement in statements:
            connection.execute(statement)
    return open_run(run.results, run.run_id)


def data_of(drawn: Figure) -> list[list[dict[str, Any]]]:
    """Return the rows of each layer."""
    spec = drawn.spec
    return [
        spec["datasets"][layer["data"]["name"]] if "name" in layer["data"] else layer["data"]["values"]
        for layer in spec["layer"]
    ]


def test_a_title_states_who_leads_and_a_subtitle_what_is_drawn(made: Any) -> None:
    plain = made()
    drawn = strip.throughput(plain, title="Rows per second")
    assert isinstance(drawn, Figure)
    assert drawn.title.startswith("Rows per second: DuckDB 1.5.6 is ahead of SQLite 3.45.1 by a factor of 2.")
    assert "linear axis; more is better; n = 3 trials of each setup" in drawn.subtitle
    assert drawn.subtitle in drawn.html()


def test_a_title_claims_no_lead_that_is_not_clear(made: Any) -> None:
    run = made(blocks=2)
    drawn = strip.throughput(run, title="Rows per second")
    assert isinstance(drawn, Figure)
    assert "DuckDB 1.5.6 is not clearly ahead of SQLite 3.45.1" in drawn.title


def test_a_title_along_a_factor_names_the_levels(made: Any) -> None:
    run = made(batch_sizes=(1000, 5000))
    drawn = curve.chart(run, "load", "rows_per_second", "batch_size", "Rows per second")
    assert isinstance(drawn, Figure)
    assert drawn.title == "Rows per second: DuckDB 1.5.6 leads at every batch size"


def test_intervals_of_two_systems_at_one_level_do_not_cover_each_other(made: Any) -> None:
    drawn = curve.chart(made(batch_sizes=(1000, 5000)), "load", "rows_per_second", "batch_size")
    assert isinstance(drawn, Figure)
    places = {(row["label"], row["at"]): row["x"] for row in data_of(drawn)[-1]}
    assert len(places) == len(set(places.values())) == 4
    assert all(abs(x - (1000, 5000).index(at)) < 0.2 for (_, at), x in places.items())


def test_levels_along_a_curve_of_sizes_are_bytes_and_have_units() -> None:
    assert [curve._shown("size", curve._at("size", level)) for level in ("200000", "4KiB")] == [
        "200 kB",
        "4 KiB",
    ]
    assert curve._at("size", "4KiB") < curve._at("size", "200000")


def test_a_factor_that_follows_the_one_along_a_curve_makes_no_line_of_its_own() -> None:
    def at(size: str, count: str) -> Any:
        levels = {"system": "files", "size": size, "count": count}
        return SimpleNamespace(cell=SimpleNamespace(system="files", title="Files", levels=levels))

    assert curve._labels([at("10", "200"), at("20", "100")], "size") == ["Files", "Files"]
    found = curve._labels([at("10", "200"), at("10", "100")], "size")
    assert found == ["Files, 200 objects", "Files, 100 objects"]


def test_one_level_is_no_curve(plain: Run) -> None:
    assert isinstance(curve.chart(plain, "load", "rows_per_second", "batch_size"), Missing)


def test_a_phase_shorter_than_a_second_is_marked_at_its_cell(made: Any) -> None:
    duckdb = "trial_id IN (SELECT trial_id FROM trials WHERE system = 'duckdb')"
    run = changed(
        made,
        "UPDATE phases SET duration_seconds = 5",
        f"UPDATE phases SET duration_seconds = 0.2 WHERE phase = 'load' AND {duckdb}",
    )
    assert list(limits.brief(run, "load").values()) == [0.2]
    drawn = strip.throughput(run)
    assert isinstance(drawn, Figure)
    bands = [layer for layer in drawn.spec["layer"] if layer["mark"]["type"] == "rule"]
    assert ["strokeDash" in layer["mark"] for layer in bands] == [False, True]
    assert [row["cell"] for row in data_of(drawn)[1]] == ["DuckDB 1.5.6"]
    assert "Dashed: phases shorter than 1 s (the shortest: 200 ms)" in drawn.note
    assert "load in 1 of 2 setups (the shortest: 200\N{NO-BREAK SPACE}ms)" in conclusion.limits(run).markdown


def test_published_values_are_drawn_beside_ours(plain: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    over, of = sorted(plain.cells, key=lambda cell: cell.system, reverse=True)
    held = SimpleNamespace(
        sides=SimpleNamespace(cells=(over, of)), unit="op/s", published_over=150_000.0, published_of=375_000.0
    )
    monkeypatch.setattr(claims, "of_run", lambda *_: (SimpleNamespace(id="a", cells=(held,)),))
    monkeypatch.setitem(plain.declared, "claims", [{}])
    values = {cell.system: value for cell, value in claim.published_values(plain, ["a"])}
    assert values == {"sqlite": 150_000.0, "duckdb": 375_000.0}
    assert claim.published_values(plain, ["b"]) == []
    drawn = strip.throughput(plain, published=["a"])
    assert isinstance(drawn, Figure)
    assert "published 375,000 rows/s" in drawn.alt
    assert "hollow diamonds were published" in drawn.subtitle


def test_published_values_in_another_unit_are_converted() -> None:
    assert claim.UNITS["MiB/s"] == 1_048_576
    assert claim.UNITS["ms"] == 0.001


def test_the_size_on_disk_shows_what_is_not_data(made: Any) -> None:
    parts = (
        "INSERT INTO measurements SELECT trial_id, 'trial', 'disk_data_bytes', 2.3e6, 'B', 'lower' FROM trials "
        "WHERE system = 'sqlite'"
    )
    run = changed(made, "UPDATE measurements SET value = 128e6 WHERE metric = 'disk_bytes'", parts)
    table = disk.table(run)
    assert isinstance(table, Table)
    [row] = [row for row in table.rows if row[0] == "SQLite 3.45.1"]
    assert row[1:5] == ["2.30 MB", "n/a", "126 MB", "128 MB"]
    drawn = disk.chart(run)
    assert isinstance(drawn, Figure)
    assert "SQLite 3.45.1, 2.30 MB of data" in drawn.title
    assert "2.30 MB data, 126 MB server's own files" in drawn.alt
    assert "most of which an empty server has too" in drawn.subtitle


def test_a_ceiling_of_less_than_a_second_is_none(made: Any) -> None:
    brief = (
        "UPDATE run_facts SET value = regexp_replace(value, '(duration_ns.: ?)', '\\1 0.00') "
        "WHERE topic = 'calibration'"
    )
    said = cost.ceiling_sentence(changed(made, brief, systems=("duckdb", "influxdb-1.8.10"))).markdown
    assert "ceiling is unknown" in said
    assert "less than 1 s shows no ceiling" in said.replace("\N{NO-BREAK SPACE}", " ")
    assert "reached" not in said


def test_a_cell_is_compared_with_the_ceiling_of_its_own_load(made: Any) -> None:
    loads = [
        {"rows_per_second": rate, "duration_ns": 5_000_000_000, "batch_size": rows}
        for rows, rate in ((1000, 5e5), (5000, 2e6))
    ]
    facts = [
        f"INSERT INTO run_facts SELECT run_id, 'calibration', '{place}', '{json.dumps(one)}' FROM runs"
        for place, one in enumerate(loads)
    ]
    before = "DELETE FROM run_facts WHERE topic = 'calibration'"
    run = changed(made, before, *facts, batch_sizes=(1000, 5000), systems=("duckdb", "influxdb-1.8.10"))
    found = limits.ceiling(run)
    assert found.of() == 5e5
    assert {cell.levels["batch_size"]: found.of(cell) for cell in run.cells} == {"1000": 5e5, "5000": 2e6}
    said = cost.ceiling_sentence(run).markdown
    assert "at least 500,000 rows/s" in said.replace("\N{NO-BREAK SPACE}", " ")


def test_a_system_with_another_protocol_is_compared_with_its_own_ceiling(made: Any) -> None:
    loads = [
        {"rows_per_second": 4e5, "duration_ns": 5_000_000_000},
        {"rows_per_second": 3e5, "duration_ns": 5_000_000_000, "systems": ["postgresql-15"]},
    ]
    facts = [
        f"INSERT INTO run_facts SELECT run_id, 'calibration', '{place}', '{json.dumps(one)}' FROM runs"
        for place, one in enumerate(loads)
    ]
    before = "DELETE FROM run_facts WHERE topic = 'calibration'"
    run = changed(made, before, *facts, systems=("postgresql-15", "influxdb-1.8.10"))
    found = limits.ceiling(run)
    assert found.of() == 4e5
    assert {cell.system: found.of(cell) for cell in run.cells} == {
        "postgresql-15": 3e5,
        "influxdb-1.8.10": 4e5,
    }
    said = cost.ceiling_sentence(run).markdown.replace("\N{NO-BREAK SPACE}", " ")
    assert "at least 400,000 rows/s to a server that discards them" in said
    assert "encoded at least 300,000 rows/s in each other protocol" in said


def test_a_query_phase_is_compared_with_the_queries_that_the_client_asks_alone(made: Any) -> None:
    run = made(systems=("duckdb", "influxdb-1.8.10"))
    [phase, *_] = run.phases("query")
    alone = {"phase": phase, "operations_per_second": 10.0, "duration_ns": 5_000_000_000, "workers": 1}
    short = {**alone, "operations_per_second": 1.0, "duration_ns": 5_000_000}
    other = {**alone, "operations_per_second": 2.0, "cells": ["another cell"]}
    facts = [
        f"INSERT INTO run_facts SELECT run_id, 'calibration', '{place}', '{json.dumps(one)}' FROM runs"
        for place, one in ((7, other), (8, alone), (9, short))
    ]
    changed_run = changed(made, *facts, systems=("duckdb", "influxdb-1.8.10"))
    [server] = [one for one in changed_run.cells if one.system == "influxdb-1.8.10"]
    assert limits.phase_ceiling(changed_run, phase, "operations_per_second", server) == 10.0
    said = cost.ceiling_sentence(changed_run).markdown
    assert f"In phase {phase}, InfluxDB 1.8.10 came nearest to what benchload reaches alone" in said
    assert "so the client may have limited the result" in said


def test_disks_that_are_files_on_one_device_are_named(made: Any) -> None:
    facts = '{"disks": 4, "below": {"device": {"name": "vda"}}}'
    run = changed(made, f"UPDATE trials SET storage = 'loop-disks', storage_facts = '{facts}'")
    [one] = limits.one_device(run)
    assert text(one).startswith("The 4 disks of storage loop-disks are files on one device (vda)")
    assert "files on one device" in conclusion.limits(run).markdown
    slow = facts.replace("4,", '4, "writes_per_second": 200,')
    [one] = limits.one_device(changed(made, f"UPDATE trials SET storage_facts = '{slow}'"))
    assert text(one).endswith("each limited to 200 writes per second in place of separate disks")
    single = facts.replace("4,", "1,")
    assert limits.one_device(changed(made, f"UPDATE trials SET storage_facts = '{single}'")) == []


def test_charts_without_data_vanish_and_refusals_stay(plain: Run) -> None:
    drawn = strip.throughput(plain)
    nothing = missing("A chart", "there are no data")
    assert isinstance(drawn, Figure)
    kept = figure.shown(nothing, drawn, nothing)
    assert isinstance(kept, figure.Figures)
    assert [one.title for one in kept.figures] == [drawn.title]
    assert figure.shown(nothing).html() == ""
    refused = figure.shown(Markdown("The answers differ."), nothing)
    assert isinstance(refused, Block)
    assert refused.markup == "<p>The answers differ.</p>"


def published(monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
    """Declare a publication of the run's experiment."""
    declared = Publication(title="A comparison", claimed="One is faster.", **more)
    monkeypatch.setattr(Catalogue, "publication", lambda self, slug: declared)


def test_the_setting_marks_what_differs(plain: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = setting.table(plain)
    assert isinstance(alone, Table)
    assert list(alone.columns) == ["Part", "This run"]
    stated = {
        "versions": "DuckDB 1.5.6, SQLite 3.45.1",
        "trials": "one of each setup",
        "durability": "not stated",
    }
    published(monkeypatch, setting=stated)
    made = setting.table(plain)
    assert isinstance(made, Block)
    rows = {
        line.split(" | ")[0].strip("| "): line.split(" | ")[-1].strip("| ")
        for line in made.markdown.splitlines()
    }
    assert rows["Versions"] == "same"
    assert rows["Trials"] == "differs"
    assert rows["Durability"] == rows["Clients"] == "unknown"
    assert made.markup.count('<tr class="differs">') == 1


def test_what_a_publication_did_not_control_is_a_section(plain: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert setting.uncontrolled(plain) is None
    published(monkeypatch, uncontrolled=["One run for each setup.", "The <order>."])
    made = setting.uncontrolled(plain)
    assert made is not None
    assert made.markup.endswith("<ul><li>One run for each setup.</li><li>The &lt;order&gt;.</li></ul>")
    assert made.markdown.startswith(
        "## What the publication did not control\n\n- One run for each setup.\n- "
    )


def test_the_setting_names_the_programs_besides_the_systems(plain: Run) -> None:
    programs = plain.facts("programs")
    added = {
        "fio": {"version": "3.33"},
        "sqlite from go": {"version": "1"},
        "s3fs": {"unavailable": "no s3fs"},
    }
    programs.update(added)
    try:
        made = setting.table(plain)
    finally:
        for name in added:
            del programs[name]
    assert isinstance(made, Table)
    assert dict(made.rows)["Versions"] == "DuckDB 1.5.6, SQLite 3.45.1, fio 3.33"


def test_checks_that_all_agree_are_one_line(plain: Run) -> None:
    said = work.checks(plain)
    assert isinstance(said, Markdown)
    assert said.markdown.startswith("All ")
    assert said.markdown.endswith("trials passed, and no operation failed.")


def test_the_end_of_a_report_is_folded_and_leaves_out_what_lacks_data(plain: Run) -> None:
    made = folds.closing(plain, Size_on_disk=disk.table(plain), Nothing=missing("It", "there is none"))
    assert made.markup.count("<details") == made.markup.count("</details>")
    assert "<summary>Size on disk</summary>" in made.markup
    assert "Nothing" not in made.markup
    assert "./bench rerun" in made.markup


def test_every_published_number_is_in_a_row_with_its_use(plain: Run) -> None:
    seaweedfs = SimpleNamespace(experiment="seaweedfs-vs-postgres", declared={})
    made = accounted.table(cast("Run", seaweedfs))
    assert isinstance(made, Table)
    assert "66 of those in claims are not judged on this run, which was made before: " in made.caption
    assert sum(int(number) for _, number, _ in made.rows) == 504
    assert made.caption.startswith("114 of 504 published numbers are used: 66 in claims, 48 drawn in charts.")
    [drawn] = [about for about, number, use in made.rows if use == "drawn in a chart (percentiles)"]
    assert "metric latency_p50, latency_p80, latency_p90, latency_p95" in drawn
    assert "unexplained" not in str(made.rows)
    assert isinstance(accounted.table(plain), Missing), "no publication"


def test_a_title_claims_nothing_of_phases_under_a_second(made: Any) -> None:
    plain = changed(made, "UPDATE phases SET duration_seconds = 0.5 WHERE phase = 'load'")
    drawn = strip.throughput(plain, title="Rows per second")
    assert isinstance(drawn, Figure)
    assert drawn.title == "Rows per second"


def test_the_headline_has_tiles_and_the_strength_of_the_evidence(made: Any) -> None:
    plain = made()
    headline = conclusion.headline(plain)
    assert "DuckDB 1.5.6 is 2" in headline.markup
    assert "<dt>Checks</dt><dd>passed</dd>" in headline.markup
    assert "3 trials of each setup" in headline.markup
    assert "(fewer than 10 trials" in headline.markup
    for grade in ("onfirmatory", "xploratory"):
        assert grade not in headline.markup
    assert "3 trials of each setup" in headline.markup


def test_a_lead_among_one_system_is_only_the_metric(made: Any) -> None:
    run = made(systems=("duckdb",))
    [one] = [held for held in lead.comparison.estimates(run, "load", "rows_per_second") if held.points]
    assert lead.title(run, "Rows per second", {"": [one]}) == "Rows per second"


def test_a_group_with_a_short_comparison_has_no_leader(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made()
    held = [one for one in lead.comparison.estimates(run, "load", "rows_per_second") if one.points]
    first, second = held[:2]
    third = replace(second, value=1.0)
    whole = lead.comparison.versus
    short = because("short-phase", phase="load", seconds=0.2, least=1.0)

    def versus(run: Run, above: Any, below: Any) -> Any:
        pair = whole(run, above, second if below is third else below)
        return replace(pair, unfit=short) if below is third and pair else pair

    monkeypatch.setattr(lead.comparison, "versus", versus)
    monkeypatch.setattr(lead.comparison, "mixed", lambda *_: False)
    assert lead.title(run, "Rows per second", {"": [first, second]}) != "Rows per second"
    assert lead.title(run, "Rows per second", {"": [first, second, third]}) == "Rows per second"
