"""Texts of servers and programs: parsed and cut so that a record can hold them, whatever they contain."""

from __future__ import annotations

import json
import re
from typing import Any

MOST_CHARACTERS = 2000
"""Maximum length of a reason or message in a trial's record; a server may answer with megabytes."""
END_CHARACTERS = 500
"""Part of it that is kept of the end, where Benchbook adds what it knows of the cause."""
_HALVES = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    r"""Return ``text`` with each half of a surrogate pair written as ``\ud800``: UTF-8 has no such character.

    >>> encodable("a\ud800b")
    'a\\ud800b'
    """
    return _HALVES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text of others with ``encodable`` strings; raise ValueError or RecursionError."""
    value = json.loads(text)
    written = json.dumps(value, ensure_ascii=False) if _may_hold_halves(text) else ""
    # Inside a string of JSON a backslash is written twice.
    return json.loads(_HALVES.sub(lambda found: f"\\\\u{ord(found[0]):04x}", written)) if written else value


def _may_hold_halves(text: str | bytes) -> bool:
    """Return whether a JSON text has an escape of a half; most have none, and are parsed once."""
    if isinstance(text, str):
        return "\\ud" in text or "\\uD" in text or _HALVES.search(text) is not None
    return b"\\ud" in text or b"\\uD" in text or b"\xed" in text


def number(text: str) -> int | None:
    """Return a whole number of up to 18 digits; None for other texts, such as "²" or one of thousands of digits.

    >>> number("12"), number("²"), number("9" * 5000)
    (12, None, None)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return ``text``, or its beginning and end with the number of characters between them if it is longer.

    >>> shortened("a" * 600 + "b" * 600, most=503).rstrip("b")
    'aaa … (697 characters more, see logs) … '
    """
    if len(text) <= most:
        return text
    begin = most - END_CHARACTERS
    more = len(text) - most
    return f"{text[:begin]} … ({more:,} characters more, see logs) … {text[-END_CHARACTERS:]}"
