import pytest

from benchbook.declare.expectation import Expectation


@pytest.mark.parametrize(
    ("kind", "published", "factor"),
    [
        ("ratio", 2.0, 1.05),
        ("ratio", 0.5, 1.05),
        ("ratio", 1.04, 1.04**0.5),  # closer to 1 than to the published ratio
        ("ratio", 1 / 1.04, 1.04**0.5),
        ("at-least", 1.02, 1.02**0.5),
        ("at-least", 1.0, 1.05),
        ("equal", 1.0, 1.0),
    ],
)
def test_no_difference_is_nearer_to_1_than_to_what_was_published(kind, published, factor):
    assert Expectation(kind, published).no_difference == pytest.approx(factor)
