"""Numbers in texts of others."""

from __future__ import annotations

import pytest

from benchbook.analyse.wording import size_words
from benchbook.host.texts import number


@pytest.mark.parametrize("text", ["²", "٣", "", "-1", "1.5", "9" * 19, "9" * 5000])
def test_what_is_no_short_whole_number_is_none(text: str) -> None:
    assert number(text) is None
    assert size_words(text) == text


def test_a_whole_number_is_one() -> None:
    assert (number("0"), number("007"), number("9" * 18)) == (0, 7, 10**18 - 1)
