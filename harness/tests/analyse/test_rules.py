"""Each rule's mark becomes worse if a run breaks the rule."""

from __future__ import annotations

from pathlib import Path

from benchbook.analyse import rules
from benchbook.analyse.run import open_run
from benchbook.record import database
from benchbook.report import reasons
from benchbook.site import methods

ROOT = Path(__file__).resolve().parents[3]


def test_every_rule_has_a_check_and_no_mark_is_given_unseen():
    assert len(rules.rules()) == 19
    assert [rule.name for rule in rules.rules() if rule.check not in rules.CHECKS] == []


def marks(run):
    return {rule.number: rule.finding(run).mark for rule in rules.rules()}


def spoiled(made, *statements, **options):
    run = made(**options)
    with database.open(run.results) as connection:
        for statement in statements:
            connection.execute(statement)
    return marks(open_run(run.results, run.run_id))


def test_marks_fall_with_what_was_not_recorded(made):
    kept = marks(made())
    assert kept[7] == "kept"
    assert kept[16] == "not applicable"
    assert kept[4] == "not kept"
    found = spoiled(
        made,
        "DELETE FROM histograms",
        "DELETE FROM intervals",
        "UPDATE trials SET cache_state = NULL, data_to_memory = NULL, arm = NULL",
        "DELETE FROM checks",
        "DELETE FROM measurements WHERE metric IN ('settled_seconds', 'latency_mean')",
        "UPDATE runs SET order_seed = NULL",
        "DELETE FROM run_facts WHERE topic IN ('host', 'provenance')",
        run_id="quickstart-20260302T000000-0002",
    )
    unseen = (5, 6, 7, 9, 11, 12, 13)
    assert {number: found[number] for number in unseen} == dict.fromkeys(unseen, "not recorded")
    assert found[2] == "not kept"
    assert found[14] == "partly"
    assert found[18] == "partly"


def test_two_trials_are_too_few_and_three_are_few(made):
    assert rules.trials(made(blocks=2)).mark == "not kept"
    assert rules.trials(made(blocks=3, run_id="quickstart-20260302T000000-0003")).mark == "partly"


def test_cold_trials_that_read_nothing_are_not_believed_and_lukewarm_ones_are_told(made):
    cold = "UPDATE trials SET cache_state = 'cold'"
    read = "UPDATE measurements SET value = 4096 WHERE metric = 'server_read_bytes'"
    assert rules.caches(made()).mark == "kept"
    for number, (statements, mark, words) in enumerate(
        (
            ((cold,), "not kept", "6 trials are recorded as cold but read nothing"),
            ((cold, read), "kept", "verified by bytes read"),
            (("UPDATE trials SET cache_state = 'lukewarm' WHERE \"index\" = 0",), "partly", "lukewarm, warm"),
            (
                ('UPDATE trials SET cache_state = NULL WHERE "index" = 0',),
                "not recorded",
                "not recorded in 1 trial",
            ),
        )
    ):
        run = made(run_id=f"quickstart-20260303T000000-000{number}")
        with database.open(run.results) as connection:
            for statement in statements:
                connection.execute(statement)
        found = rules.caches(open_run(run.results, run.run_id))
        assert found.mark == mark
        assert words in reasons.why(found)


def test_a_client_without_evidence_is_not_recorded_and_a_short_calibration_shows_no_ceiling(made):
    servers = {"systems": ("duckdb", "influxdb-1.8.10")}
    known = spoiled(made, **servers)
    assert known[8] == "kept"
    gone = "DELETE FROM measurements WHERE metric = 'client_cpu_fraction'"
    assert spoiled(made, gone, run_id="quickstart-20260305T000000-0001", **servers)[8] == "not recorded"
    brief = "UPDATE run_facts SET value = regexp_replace(value, '(duration_ns.: ?)', '\\1 0.00') "
    brief += "WHERE topic = 'calibration'"
    run = made(run_id="quickstart-20260305T000000-0002", **servers)
    with database.open(run.results) as connection:
        connection.execute(brief)
    found = rules.client(open_run(run.results, run.run_id))
    assert found.mark == "partly"
    assert "too short to show the client's ceiling" in reasons.why(found)


def test_a_phase_without_one_pace_or_a_latency_that_cannot_be_costs_the_mark(made):
    short = rules.outliers(made())
    assert short.mark == "partly"
    assert "too short for a label" in reasons.why(short)
    kept = rules.little(made(run_id="quickstart-20260304T000000-0001"))
    assert kept.mark == "kept"
    run = made(run_id="quickstart-20260304T000000-0002")
    with database.open(run.results) as connection:
        connection.execute("UPDATE measurements SET value = 9 * value WHERE metric = 'latency_mean'")
    assert rules.little(open_run(run.results, run.run_id)).mark == "partly"


def test_published_numbers_without_the_defects_of_their_method_are_half_kept(made):
    import json

    run = made()
    facts = {"claims": [{"id": "a", "source": "a paper"}]}
    with database.open(run.results) as connection:
        connection.execute(
            "UPDATE run_facts SET value = ? WHERE topic = 'declared' AND key = 'experiment'",
            [json.dumps(facts)],
        )
    found = rules.sources(open_run(run.results, run.run_id))
    assert found.mark == "partly"
    assert "no defects" in reasons.why(found)


def test_every_report_of_an_experiment_marks_every_rule(made):
    table = methods.marks(made())
    assert len(table.rows) == 19
    assert all(sign in "✓◐✗n" and why for _, (sign, *_), why in table.rows)
    # The marks are on the data page of every run, which is the same for all experiments.
    page = ROOT / "harness" / "benchbook" / "report" / "template" / "data.qmd"
    assert not page.is_file() or "methods.marks(run)" in page.read_text()
