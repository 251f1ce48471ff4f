"""Limits of a run, computed from the records of its trials."""

from __future__ import annotations

import html
from types import SimpleNamespace

from benchbook.analyse.run import open_run
from benchbook.record import database
from benchbook.report import conclusion, limits
from benchbook.run.findings import Findings


def changed(made, *statements, **options):
    run = made(**options)
    with database.open(run.results) as connection:
        for statement in statements:
            connection.execute(statement)
    return conclusion.limits(open_run(run.results, run.run_id)).markdown


def test_a_client_that_used_most_of_its_cores_is_told(made):
    busy = "UPDATE measurements SET value = 0.9 WHERE metric = 'client_cpu_fraction' AND phase = 'load'"
    words = changed(made, busy, systems=("duckdb", "influxdb-1.8.10"))
    assert "used up to 90" in words
    assert "in phase load against InfluxDB 1.8.10" in words
    assert "against DuckDB" not in words, "embedded systems are their own client"
    assert "it may have limited the result" not in changed(made, run_id="quickstart-20260302T000000-0001")


def test_a_system_that_other_machines_could_reach_is_told_with_the_reason(made):
    findings = Findings()
    findings.note_listening(2)
    [check] = findings.checks
    assert (check["kind"], check["found"]) == ("listening", 2)
    listened = (
        "INSERT INTO checks SELECT trial_id, 'listening', 'named otherwise', '0', "
        "CASE system WHEN 'sqlite' THEN '2' ELSE '0' END, true FROM trials"
    )
    words = changed(made, listened)
    assert words.count("listened on addresses that other machines can reach") == 1
    assert (
        "SQLite 3.45.1 listened on addresses that other machines can reach: its declaration gives no reason"
        in words
    )


def test_server_and_client_on_the_same_cores_are_told_with_the_reason(made):
    held = '{"client_cores": null, "pinning": "none: server and client share 2 cores, too few to give each its own"}'
    shared = f"UPDATE trials SET confinement = '{held}'"
    words = changed(made, shared, systems=("duckdb", "influxdb-1.8.10"))
    assert (
        "In 3 trials, the server and the client ran on the same cores: server and client share 2 cores"
        in words
    )
    own = shared.replace("null", "[2,3]").replace("none: ", "")
    assert "ran on the same cores" not in changed(
        made, own, systems=("duckdb", "influxdb-1.8.10"), run_id="quickstart-20260302T000000-0001"
    )


def test_phases_of_less_than_a_second_are_told_with_their_time(made):
    brief = "UPDATE phases SET duration_seconds = 0.06 WHERE phase = 'load'"
    words = changed(made, brief).replace("\N{NO-BREAK SPACE}", " ")
    assert "load in 2 of 2 setups (the shortest: 60.0 ms)" in words
    long = "UPDATE phases SET duration_seconds = 5"
    assert "shorter than one second" not in changed(made, long, run_id="quickstart-20260302T000000-0001")


def test_levels_that_were_chosen_on_the_command_line_are_named(made):
    given = """UPDATE runs SET argv = '["run", "quickstart", "--set", "system=duckdb,sqlite", "--set=arm=tuned"]'"""
    words = html.unescape(changed(made, given))
    assert "Levels chosen with --set: system=duckdb,sqlite arm=tuned." in words
    none = """UPDATE runs SET argv = '["run", "quickstart"]'"""
    assert "Levels chosen with" not in changed(made, none, run_id="quickstart-20260302T000000-0001")


def test_trials_that_were_removed_or_changed_before_a_resume_are_named():
    def said(*altered: dict[str, str]) -> list[str]:
        run = SimpleNamespace(fact_list=lambda topic: list(altered) if topic == "altered" else [])
        return limits.altered(run)  # type: ignore[arg-type]

    gone = {"trial_id": "r/0003", "status": "ok", "why": "removed"}
    assert said() == []
    [one] = said(gone)
    assert one.startswith(
        "1 finished trial was removed or changed before the run was continued, and ran again: r/0003."
    )
    several = said(
        *(gone | {"trial_id": f"r/{number:04d}"} for number in range(7)), {"trial_id": "", "why": "journal"}
    )
    assert several[0].startswith("7 finished trials were removed or changed")
    assert "r/0004, …." in several[0]
    assert several[1].startswith("The journal of finished trials was removed or changed")
