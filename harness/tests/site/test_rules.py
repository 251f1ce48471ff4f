"""The marks of the rules fall when the rule is broken."""

from __future__ import annotations

from benchbook.record import database
from benchbook.report.results import open_run
from benchbook.site import methods, rule_checks


def test_every_rule_has_a_check_and_no_mark_is_given_unseen():
    assert len(methods.rules()) == 19
    assert [rule.name for rule in methods.rules() if rule.check is None] == []


def marks(run):
    return {rule.number: rule.finding(run).mark for rule in methods.rules()}


def spoiled(made, *statements, **options):
    run = made(**options)
    with database.open(run.results) as connection:
        for statement in statements:
            connection.execute(statement)
    return marks(open_run(run.results, run.run_id))


def test_marks_fall_with_what_was_not_recorded(made):
    kept = marks(made())
    assert kept[7] == "kept"
    assert kept[16] == "no matter here"
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
    assert {number: found[number] for number in (2, 5, 6, 7, 9, 11, 12, 13)} == dict.fromkeys(
        (2, 5, 6, 7, 9, 11, 12, 13), "not kept"
    )
    assert found[14] == "partly"
    assert found[18] == "partly"


def test_two_trials_are_too_few_and_three_are_few(made):
    assert rule_checks.trials(made(blocks=2)).mark == "not kept"
    assert rule_checks.trials(made(blocks=3, run_id="quickstart-20260302T000000-0003")).mark == "partly"
