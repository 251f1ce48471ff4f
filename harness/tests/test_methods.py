"""The page of methods names tests that exist."""

import re
from pathlib import Path

from tests import broken_rules, tally

TESTS = Path(__file__).parent
PAGE = (TESTS.parents[1] / "docs" / "methods.md").read_text(encoding="utf-8")
BROKEN = "rules broken on purpose, each noticed by a test"


def test_every_named_test_exists():
    named = set(re.findall(r"`((?:\w+/)?test_\w+\.py)(?:::(\w+))?`", PAGE))
    assert len(named) > 40
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not (TESTS / file).is_file() or (name and f"def {name}(" not in (TESTS / file).read_text())
    ]
    assert missing == []


def test_every_rule_is_broken_on_purpose_somewhere():
    """By ``broken_rules.py``, which takes minutes; here only that its list still fits the program."""
    from benchbook.analyse.rules import rules

    tried = broken_rules.breaks()
    assert {one.rule for one in tried} >= {one.number for one in rules()}
    for one in tried:
        assert (TESTS.parent / one.file).read_text(encoding="utf-8").count(one.now) == 1, one.breaks
        assert one.now != one.then
        files = [TESTS / test.partition("::")[0] for test in one.tests if not test.startswith("go ")]
        assert all(file.is_file() for file in files), one.breaks


def test_counts_of_runs_and_of_fuzzing_add_up():
    lines = [
        '{"done": {"kills": 3}, "broken": {"kills": 0}}',
        '{"done": {"kills": 2}, "broken": {"kills": 1}}',
        tally.of_log(
            "fuzz: elapsed: 3s, execs: 10 (3/sec)\nfuzz: elapsed: 1m0s, execs: 4321 (72/sec)\nPASS\n"
        ),
        tally.of_log("fuzz: elapsed: 2s, execs: 9 (4/sec)\n--- FAIL: FuzzRows (2.41s)\n"),
    ]
    made = tally.table(*tally.added(lines))
    assert "| kills | 5 | 1 |" in made
    assert f"| {tally.INPUTS} | 4,330 | 1 |" in made
    assert f"| {tally.FUNCTIONS} | 2 | 0 |" in made


def test_the_table_of_counts_is_that_of_the_tally():
    whole, wrong = tally.added(tally.KEPT.read_text(encoding="utf-8").splitlines())
    assert f"{tally.BEGIN}\n{tally.table(whole, wrong)}{tally.END}" in PAGE
    # What was counted is what there is to be counted: nothing was added since that was not tried.
    assert whole[BROKEN] == len(broken_rules.breaks())
    functions = sum(
        len(re.findall(r"^func Fuzz", path.read_text(encoding="utf-8"), re.MULTILINE))
        for path in (TESTS.parent / "benchload").rglob("*_test.go")
    )
    assert whole[tally.FUNCTIONS] == functions


def test_numbers_in_the_text_are_those_of_the_program():
    from benchbook.analyse import interval
    from benchbook.analyse.rules import rules
    from benchbook.measure import steady
    from benchbook.plan import precision
    from benchbook.run import watchdog

    def default(file: str, name: str) -> int:
        found = re.findall(rf'"{name}"\) or (\d+)\)', (TESTS / file).read_text(encoding="utf-8"))
        return int(found[0])

    full = (TESTS.parents[1] / ".ci" / "full").read_text(encoding="utf-8")
    text = " ".join(PAGE.split())
    [kills], [inputs], [seconds] = (
        re.findall(rf"{name}(\d+)", full) for name in ("BENCHBOOK_KILLS=", "BENCHBOOK_FUZZ=", "-fuzztime ")
    )
    assert (
        f"does {kills} kills, {int(inputs):,} inputs of each kind and {seconds} s of each `go test -fuzz`"
        in text
    )
    usual = default("record/test_fuzz.py", "BENCHBOOK_FUZZ")
    assert usual == default("declare/test_mutations.py", "BENCHBOOK_FUZZ")
    histories = default("measure/test_ledger.py", "BENCHBOOK_FUZZ")
    default_kills = default("live/test_many_kills.py", "BENCHBOOK_KILLS")
    assert (
        f"does {default_kills} kills, {usual} inputs of each kind and {histories} of each test of histories"
        in text
    )
    assert f"one line for each of the {len(rules())} rules" in text
    assert f"a pilot of {precision.PILOT} trials a cell" in text
    assert f"Fewer than {interval.FEWEST} trials of a cell" in text
    assert f"fewer than {interval.FEW} carry a note" in text
    assert f"From {interval.BOOTSTRAP_FROM} trials on it is" in text
    assert f"(median absolute deviation, {interval.THRESHOLD})" in text
    assert f"(fewer than {steady.FEWEST} whole intervals" in text
    assert f"server and client have {watchdog.REPORT_SECONDS:.0f} s to say it" in text
    assert f"where nothing moves for {watchdog.HANG_SECONDS:.0f} s it is ended" in text
    _, wrong = tally.added(tally.KEPT.read_text(encoding="utf-8").splitlines())
    assert (sum(wrong.values()) == 1) == ("The one kill that is not as promised" in text)


def test_every_rule_has_a_line():
    from benchbook.analyse.rules import rules

    assert [int(number) for number in re.findall(r"^\| (\d+)\. ", PAGE, re.MULTILINE)] == [
        one.number for one in rules()
    ]
