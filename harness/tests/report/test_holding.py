"""The two answers on a claim in words, and their definitions beside them."""

from __future__ import annotations

from typing import get_args

import pytest

from benchbook.analyse.grade import Reading
from benchbook.analyse.judgement import Answer, Holds, Size
from benchbook.report import holding


@pytest.mark.parametrize("holds", get_args(Holds))
def test_every_answer_has_words_and_a_definition(holds: Holds) -> None:
    assert holding.holds_words(Reading(holds)) == holding.said(Answer(holds))
    assert holding.meant(Reading(holds)).endswith(".")


@pytest.mark.parametrize("size", get_args(Size))
def test_every_size_has_words_and_a_definition(size: Size) -> None:
    found = Reading("holds", size, here=True)
    assert holding.words(found).startswith("holds here, ")
    assert holding.meant(found).endswith(holding.HERE)


def test_the_definition_is_beside_an_answer_without_a_script() -> None:
    found = Reading("reversed")
    markup = holding.marked("reversed <in 2>", found)
    meaning = holding.meant(found)
    assert f'<summary title="{meaning}">reversed &lt;in 2&gt;</summary>' in markup, "on hover"
    assert f"<span>{meaning}</span></details>" in markup, "on a tap"
