"""docs/methods.md names tests that exist and the numbers of the program."""

import re
from pathlib import Path

from tests import broken_rules

TESTS = Path(__file__).parent
PAGE = (TESTS.parents[1] / "docs" / "methods.md").read_text(encoding="utf-8")


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
    """``broken_rules.py`` breaks them and takes minutes; this test checks only that its list fits the program."""
    from benchbook.analyse.rules import rules

    tried = broken_rules.breaks()
    assert {one.rule for one in tried} >= {one.number for one in rules()}
    for one in tried:
        assert (TESTS.parent / one.file).read_text(encoding="utf-8").count(one.now) == 1, one.breaks
        assert one.now != one.then
        files = [TESTS / test.partition("::")[0] for test in one.tests if not test.startswith("go ")]
        assert all(file.is_file() for file in files), one.breaks


def test_numbers_in_the_text_are_those_of_the_program():
    from benchbook.analyse import model
    from benchbook.analyse.rules import rules
    from benchbook.measure import steady
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
    assert f"Fewer than {model.FEWEST} trials of a cell" in text
    assert f"fewer than {model.FEW} carry a note" in text
    assert f"counts for more than {model.HUBER} standard deviations" in text
    assert f"{model.FEWEST} or {model.FEWEST_ROBUST - 1} trials without other comparisons" in text
    assert f"counts as a ratio of e^-{model.WORST:g}" in text
    assert f"(fewer than {steady.FEWEST_INTERVALS} whole intervals" in text
    assert f"server and client have {watchdog.REPORT_SECONDS:.0f} s to report it" in text
    assert (
        f"if nothing moves for {watchdog.HANG_SECONDS:.0f} s or a client reports nothing for an hour, it is ended"
        in text
    )


def test_every_rule_has_a_line():
    from benchbook.analyse.rules import rules

    assert [int(number) for number in re.findall(r"^\| (\d+)\. ", PAGE, re.MULTILINE)] == [
        one.number for one in rules()
    ]
