"""The sentence that counts the answers on claims."""

from __future__ import annotations

from typing import Any

import pytest

from benchbook.analyse.grade import Reading
from benchbook.report.tables import verdicts


def test_sizes_are_counted_within_their_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts.grade, "reading", lambda one: one)
    smaller, still_open, here = Reading("holds", "smaller"), Reading("open"), Reading("reversed", here=True)
    answers: Any = [
        smaller,
        still_open,
        smaller,
        Reading("holds"),
        here,
        still_open,
        Reading("holds", "open"),
    ]
    assert verdicts._counted(answers) == (
        "4 holds (2 smaller, 1 without a size, 1 size open), 2 open, 1 reversed here"
    )
    answers = [Reading("holds", "larger", here=True)]
    assert verdicts._counted(answers) == "1 holds here (1 larger)"
    answers = [Reading("holds")]
    assert verdicts._counted(answers) == "1 holds"
