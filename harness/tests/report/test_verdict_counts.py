"""The sentence that counts the answers on claims."""

from __future__ import annotations

from typing import Any

import pytest

from benchbook.report.tables import verdicts


def test_sizes_are_counted_within_their_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts.grade, "reading", lambda one: one)
    monkeypatch.setattr(verdicts.holding, "words", lambda one: one)
    answers: Any = [
        "holds, smaller",
        "open",
        "holds, smaller",
        "holds",
        "reversed here",
        "open",
        "holds, size open",
    ]
    assert verdicts._counted(answers) == (
        "4 holds (2 smaller, 1 without a size, 1 size open), 2 open, 1 reversed here"
    )
    assert verdicts._counted(["holds here, larger"]) == "1 holds here (1 larger)"  # type: ignore[list-item]
    assert verdicts._counted(["holds"]) == "1 holds"  # type: ignore[list-item]
