"""Counts what the tests did to the program, and what of it did not end as promised; fills the table of docs/methods.md.

``BENCHBOOK_TALLY=FILE`` has a run of the tests add its counts to a file; ``python -m tests.tally FILE [LOG …]`` writes
the table anew from it and from the output of ``go test -fuzz``.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "methods.md"
BEGIN, END = "<!-- counts: written by harness/tests/tally.py -->", "<!-- end of counts -->"
LAST = re.compile(r"fuzz: elapsed: \S+, execs: (\d+)")

done: Counter[str] = Counter()
broken: Counter[str] = Counter()


def count(what: str, times: int = 1) -> None:
    """Count something that was done to the program."""
    done[what] += times


def keep() -> None:
    """Add the counts of this run of the tests to the file that is named in the environment."""
    if name := os.environ.get("BENCHBOOK_TALLY"):
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"done": done, "broken": broken}) + "\n")


def added(lines: list[str], logs: list[str]) -> tuple[Counter[str], Counter[str]]:
    """Return all counts of a file's lines and of logs of ``go test -fuzz``."""
    whole, wrong = Counter[str](), Counter[str]()
    for line in lines:
        one = json.loads(line)
        whole.update(one["done"])
        wrong.update(one["broken"])
    for log in logs:
        whole["inputs of `go test -fuzz`"] += int((LAST.findall(log) or ["0"])[-1])
        whole["functions that `go test -fuzz` gave them to"] += 1
        wrong["inputs of `go test -fuzz`"] += log.count("--- FAIL")
    return whole, wrong


def table(whole: Counter[str], wrong: Counter[str]) -> str:
    """Return the counts as a table of Markdown."""
    rows = "".join(f"| {what} | {whole[what]:,} | {wrong[what]} |\n" for what in sorted(whole))
    return f"| What | Count | Not as promised |\n|---|---|---|\n{rows}"


def main() -> None:
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    logs = [Path(name).read_text(encoding="utf-8", errors="replace") for name in sys.argv[2:]]
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{table(*added(lines, logs))}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
