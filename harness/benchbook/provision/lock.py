"""Write the table of a declaration that locks files to their digests."""

from __future__ import annotations

from collections.abc import Mapping


def with_lock(text: str, heading: str, locked: Mapping[str, str]) -> str:
    r"""Return a declaration with its table of digests replaced.

    >>> with_lock('a = 1\n\n[lock]\n"x" = "0"\n\n[arms]\n', "[lock]", {"g:a:1:jar": "f"}).splitlines()
    ['a = 1', '', '[lock]', '"g:a:1:jar" = "f"', '', '[arms]']
    """
    before, found, after = text.partition(heading + "\n")
    if not found:
        return text
    rest = after[after.index("\n[") + 1 :] if "\n[" in after else ""
    lines = "".join(f'"{name}" = "{sha256}"\n' for name, sha256 in locked.items())
    return f"{before}{heading}\n{lines}\n{rest}"
