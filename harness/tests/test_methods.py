"""The page of methods names tests that exist."""

import re
from pathlib import Path

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


def test_every_rule_has_a_line():
    from benchbook.site.methods import rules

    assert [int(number) for number in re.findall(r"^\| (\d+)\. ", PAGE, re.MULTILINE)] == [
        one.number for one in rules()
    ]
