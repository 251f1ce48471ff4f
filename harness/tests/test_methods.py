"""The page of methods names tests that exist."""

import re
from pathlib import Path

from tests import broken_rules, tally

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
    """By ``broken_rules.py``, which takes minutes; here only that its list still fits the program."""
    from benchbook.site.methods import rules

    tried = broken_rules.breaks()
    assert {one.rule for one in tried} >= {one.number for one in rules()}
    for one in tried:
        assert (TESTS.parent / one.file).read_text(encoding="utf-8").count(one.now) == 1, one.breaks
        assert one.now != one.then
        files = [TESTS / test.partition("::")[0] for test in one.tests if not test.startswith("go ")]
        assert all(file.is_file() for file in files), one.breaks


def test_the_counts_are_those_of_a_tally():
    lines = [
        '{"done": {"kills": 3}, "broken": {"kills": 0}}',
        '{"done": {"kills": 2}, "broken": {"kills": 1}}',
    ]
    logs = ["fuzz: elapsed: 3s, execs: 10 (3/sec)\nfuzz: elapsed: 1m0s, execs: 4321 (72/sec)\nPASS\n"]
    made = tally.table(*tally.added(lines, logs))
    assert "| kills | 5 | 1 |" in made
    assert "| inputs of `go test -fuzz` | 4,321 | 0 |" in made
    assert PAGE.count(tally.BEGIN) == PAGE.count(tally.END) == 1


def test_every_rule_has_a_line():
    from benchbook.site.methods import rules

    assert [int(number) for number in re.findall(r"^\| (\d+)\. ", PAGE, re.MULTILINE)] == [
        one.number for one in rules()
    ]
