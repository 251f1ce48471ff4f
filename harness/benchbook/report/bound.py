"""What a claim's number is called that states a side of it and no value, such as "faster": by the test of the claim."""

from __future__ import annotations

WORDS = {"at-least": "claimed at least", "at-most": "claimed at most"}
"""Before the number, in a sentence."""
SIGNS = {"at-least": "≥ ", "at-most": "≤ "}
"""Before the number, in a table."""
LEGEND = "bound of the claim"
"""Its mark in a chart."""
