"""Parts of the report of cnos-vs-influx that other reports do not have, on synthetic runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.analyse.run import Run, open_run
from benchbook.declare.catalogue import Catalogue
from benchbook.record import database
from benchbook.record.opened import opened
from benchbook.report.charts import curve, forest, rate_over_time
from benchbook.report.claim import meaningless, statement
from benchbook.report.figure import Figure, Figures
from benchbook.report.table import Block, Markdown, Missing, Table, escape_html
from benchbook.report.tables import accounted, cost, verdicts, work
from tests.record import synthetic_run, synthetic_trial

LEVELS = {"clients": "2", "workers": "100", "batch_size": "1000"}


@pytest.fixture
def flagship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Write a run of the experiment in which the first system is ``factor`` times as fast as InfluxDB."""

    def make(system: str = "cnosdb-2.0.1", times: float = 43 / 49, refused: int = 0) -> Run:
        monkeypatch.setitem(synthetic_trial.SPEED, system, (90_000.0 * times, 0.006))
        results = tmp_path / "results"
        run_id = synthetic_run.write(
            results, systems=(system, "influxdb-1.8.10"), experiment="cnos-vs-influx", telemetry_seconds=4
        )
        folder = results / "runs" / run_id
        declared = Catalogue().experiment("cnos-vs-influx").model_dump(mode="json")
        scope = {"id": "scope", "statement": "Only systems with line protocol are compared.", "test": "equal"}
        without = {"published": None, "published_spread": None, "underspecified": "It names no number."}
        declared["profiles"]["quick"]["in_place"] = {}  # the run has the published workers
        declared["claims"].append({**declared["claims"][0], **scope, **without})
        for claim in declared["claims"]:
            claim["substitutes"] = {"cnosdb-2.0.1": "cnosdb-2.4"} if "2.0.1" in str(claim["of"]) else {}
        run = json.loads((folder / "run.json").read_text())
        run["declared"]["experiment"] = declared
        (folder / "run.json").write_text(json.dumps(run))
        for path in folder.glob("trials/*/trial.json"):
            path.write_text(json.dumps(_changed(json.loads(path.read_text()), times, refused)))
        database.rebuild(results)
        return open_run(results, run_id)

    return make


def _changed(trial: dict[str, Any], times: float, refused: int) -> dict[str, Any]:
    arm = "as-published" if trial["system"].startswith("cnosdb") else "published"
    trial |= {"levels": trial["levels"] | LEVELS | {"arm": arm}, "arm": arm}
    fast = times if trial["system"].startswith("cnosdb") else 1.0
    rate = 490_000 * fast * (1 + 0.001 * trial["block"])
    for phase, metric, value, unit in (
        ("load", "rows_per_second_acknowledged", rate, "1/s"),
        ("load", "values_per_second_acknowledged", 8 * rate, "1/s"),
        ("load", "steady_from_seconds", 1.0, "s"),
        ("load", "rows_found", 2_000_000.0, "1"),
        ("settle", "server_cpu_seconds", 1.0, "s"),
        ("trial", "bytes_per_row", 25.0, "B"),
    ):
        trial["measurements"].append(
            {"phase": phase, "metric": metric, "value": value, "unit": unit, "direction": "none"}
        )
    if refused and trial["system"].startswith("influx"):
        trial["errors"].append(
            {
                "phase": "load", "kind": "server", "status": 500, "operations": refused // 1000, "rows": refused,
                "message": "engine: cache-max-memory-size exceeded: (…/1073741824)",
            }
        )  # fmt: skip
    return trial


def test_rerun_and_publication_stand_in_one_row(flagship: Callable[..., Run]) -> None:
    made = forest.chart(flagship())
    assert isinstance(made, Block)
    [row] = [one for one in made.markup.split("<li ") if "0.88 to 2.4 times" in one]
    assert "rerun 0.878" in row
    assert "published 0.878" in row
    # The statement on what the run lacks is in the reasons.
    assert "The publication also has" in str(verdicts.table(flagship()))


def test_a_substitute_is_named_beside_its_number(flagship: Callable[..., Run]) -> None:
    made = forest.chart(flagship("cnosdb-2.4"))
    assert isinstance(made, Block)
    [row] = [one for one in made.markup.split("<li ") if "0.88 to 2.4 times" in one]
    assert "out of reach here" in row
    assert "cnosdb-2.4 is in place of cnosdb-2.0.1" in made.markup, "said once for all rows"


def test_a_run_without_claims_says_so(plain: Run) -> None:
    made = forest.chart(plain)
    assert isinstance(made, Missing)
    assert "the run declared none" in str(made)
    assert isinstance(verdicts.table(plain), Markdown)


def test_every_claim_has_a_row_in_the_plot(flagship: Callable[..., Run]) -> None:
    made = forest.chart(flagship())
    assert isinstance(made, Block)
    for one in claims.of_run(flagship()):
        assert escape_html(statement(one)) in made.markup
        if meaningless(one):
            [row] = [row for row in made.markup.split("<li ") if escape_html(statement(one)) in row]
            assert "not comparable" in row
            assert 'role="img"' not in row


def test_every_claim_has_a_row_with_its_answer(flagship: Callable[..., Run]) -> None:
    run = flagship()
    table = verdicts.table(run)
    assert isinstance(table, Table)
    found = {row[0]: row[1] for row in table.rows}
    declared = run.declared["claims"]
    assert len(found) == len(declared)
    assert [answer for claim, answer in found.items() if "line protocol" in claim] == ["not comparable"]
    assert f"Of {len(declared) - 1} claims" in str(verdicts.counts(run))
    second = [answer for claim, answer in found.items() if "2.3.0 documentation" in claim]
    assert second == ["not comparable", "not comparable"]
    stated = {row[0]: row[3] for row in table.rows}
    assert "≥ 1.00" in stated.values(), "a claim that states a side of a number is no published number"


def test_a_line_a_trial_and_when_it_was_steady(flagship: Callable[..., Run]) -> None:
    made = rate_over_time.chart(flagship(), counted=replace(rate_over_time.ROWS, shortest_seconds=0.01))
    assert isinstance(made, Figures)
    assert "steady from 1 s on" in made.figures[0].alt
    assert "block 3" in made.figures[0].alt


def test_costs_are_for_each_million_rows(flagship: Callable[..., Run]) -> None:
    table = cost.cost_table(flagship())
    assert isinstance(table, Table)
    assert [row[1] for row in table.rows] == ["3", "3"]
    assert table.columns[4] == "Processor time per million rows, settling"
    assert all(row[4] == "500 ms" for row in table.rows)


def test_below_a_million_rows_nothing_is_per_million_rows(made: Callable[..., Run]) -> None:
    run = made()
    trials = run.ok["trial_id"].to_list()
    with database.open(run.results) as connection:
        for trial in trials:
            for phase, metric, value in (
                ("load", "rows_found", 51_840.0),
                ("settle", "server_cpu_seconds", 1.0),
            ):
                row = [trial, phase, metric, value, "1", "none"]
                connection.execute("INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?)", row)
    table = cost.cost_table(open_run(run.results, run.run_id))
    assert isinstance(table, Table)
    assert not any("million" in column for column in table.columns)
    assert all(row[4] == "1.00 s" for row in table.rows)


def test_memory_is_the_pss_where_it_was_sampled(made: Callable[..., Run]) -> None:
    run = made()
    first = run.ok["trial_id"].to_list()
    with database.open(run.results) as connection:
        for trial in first:
            for metric, value in (("rows_found", 51_840.0), ("server_pss_peak_bytes", 50e6)):
                row = [trial, "load", metric, value, "1", "none"]
                connection.execute("INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?)", row)
    table = cost.cost_table(open_run(run.results, run.run_id))
    assert isinstance(table, Table)
    assert [row[5] for row in table.rows] == ["50.0 MB"] * 2


def test_refusals_are_shown_in_the_servers_words(flagship: Callable[..., Run]) -> None:
    assert isinstance(work.refusals_table(flagship()), Markdown)
    table = work.refusals_table(flagship(refused=20_000))
    assert isinstance(table, Table)
    [row] = table.rows
    assert row[2] == "server (500)"
    assert "cache-max-memory-size exceeded" in row[3]
    assert row[5] == "60,000"


def test_the_same_error_of_many_trials_is_one_row(flagship: Callable[..., Run]) -> None:
    table = work.failed(flagship(refused=20_000))
    assert isinstance(table, Table)
    [row] = [row for row in table.rows if row[2] == "load: server"]
    assert row[0] == "3 trials"
    assert row[4].startswith("60 operations: engine: cache-max-memory-size exceeded")


def test_published_values_are_those_of_the_setups_that_are_drawn() -> None:
    """The claim on 200 workers has two published numbers; the chart of 100 (in the run, 12) workers shows one."""
    data = Path(__file__).parents[3] / "reports" / "data" / "cnos-vs-influx"
    with opened(Path("unused"), str(data), answering=True) as found:
        run = Run(found.results, found.run_id)
        drawn = curve.chart(
            run, "load", "rows_per_second_acknowledged", "batch_size", fixed={"workers": "100"},
            published=["ratios", "cnosdb-at-200-workers"],
        )  # fmt: skip
        used = accounted.table(run)
    assert isinstance(drawn, Figure)
    was = [row for row in drawn.table.rows if "CnosDB 2.0.1, published" in row]
    assert len(was) == 6
    assert sum("20,000" in str(row) for row in was) == 1
    assert isinstance(used, Table)
    declared = {one["id"] for one in run.declared["claims"]}
    [later] = re.findall(r"not judged on this run, which was made before: (.*)\.$", used.caption)
    assert declared.isdisjoint(re.split(", | and ", later)), "only claims that the run lacks"
