"""The lock of a system that comes from Maven: made by ``harness/relock-maven``, never at run time."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from benchbook.provision import digest, maven

HEADING = "[source.maven.sha256]"


def coordinates(folder: Path) -> dict[str, str]:
    """Return coordinate → sha256 of every file in a folder laid out as a Maven repository."""
    found = {}
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.suffix not in (".jar", ".zip"):
            continue
        *group, artifact, version, name = file.relative_to(folder).parts
        rest = name.removeprefix(f"{artifact}-{version}").removesuffix(file.suffix)
        parts = [".".join(group), artifact, version, file.suffix[1:], *([rest[1:]] if rest else [])]
        if rest != "-sources":
            found[":".join(parts)] = digest.of(file).removeprefix("sha256:")
    return found


def with_lock(text: str, locked: dict[str, str]) -> str:
    r"""Return a declaration with its table of digests replaced.

    >>> print(with_lock('a = 1\n\n[source.maven.sha256]\n"x" = "0"\n\n[arms]\n', {"g:a:1:jar": "f"}))
    a = 1
    <BLANKLINE>
    [source.maven.sha256]
    "g:a:1:jar" = "f"
    <BLANKLINE>
    [arms]
    <BLANKLINE>
    """
    before, heading, after = text.partition(HEADING + "\n")
    if not heading:
        return text
    rest = after[after.index("\n[") + 1 :] if "\n[" in after else ""
    lines = "".join(f'"{name}" = "{sha256}"\n' for name, sha256 in locked.items())
    return f"{before}{heading}{lines}\n{rest}"


def main(arguments: list[str]) -> None:
    """``project FILE`` prints the Maven project of a declaration; ``write FILE FOLDER`` writes its table."""
    file = Path(arguments[1])
    text = file.read_text(encoding="utf-8")
    if arguments[0] == "project":
        wanted = tomllib.loads(text)["source"]["maven"]["artifacts"]
        print(maven.project([one if one.count(":") > 2 else f"{one}:jar" for one in wanted], alone=False))  # noqa: T201
    else:
        file.write_text(with_lock(text, coordinates(Path(arguments[2]))), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
