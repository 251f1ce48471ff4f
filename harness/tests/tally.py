"""Counts what the tests did to the program, and what of it did not end as promised; fills the table of docs/methods.md.

``BENCHBOOK_TALLY=FILE`` has a run of the tests add its counts to a file; ``python -m tests.tally FILE [LOG …]`` keeps
it, with what the output of ``go test -fuzz`` counts, as ``tally.jsonl`` and writes the table anew. No count of the
table comes from elsewhere: ``test_methods.py`` adds them up again.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "methods.md"
KEPT = Path(__file__).with_suffix(".jsonl")
"""The counts of the runs that the table is made of, a line each."""
INPUTS, FUNCTIONS = "inputs of `go test -fuzz`", "functions that `go test -fuzz` gave them to"
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


def of_log(log: str) -> str:
    """Return what the output of ``go test -fuzz`` for one function counts, as a line of the file."""
    inputs = int((LAST.findall(log) or ["0"])[-1])
    return json.dumps({"done": {INPUTS: inputs, FUNCTIONS: 1}, "broken": {INPUTS: log.count("--- FAIL")}})


def added(lines: list[str]) -> tuple[Counter[str], Counter[str]]:
    """Return all counts of a file's lines."""
    whole, wrong = Counter[str](), Counter[str]()
    for line in lines:
        one = json.loads(line)
        whole.update(one["done"])
        wrong.update(one["broken"])
    return whole, wrong


def table(whole: Counter[str], wrong: Counter[str]) -> str:
    """Return the counts as a table of Markdown."""
    rows = "".join(f"| {what} | {whole[what]:,} | {wrong[what]} |\n" for what in sorted(whole))
    return f"| What | Count | Not as promised |\n|---|---|---|\n{rows}"


def main() -> None:
    logs = [Path(name).read_text(encoding="utf-8", errors="replace") for name in sys.argv[2:]]
    lines = [*Path(sys.argv[1]).read_text(encoding="utf-8").splitlines(), *map(of_log, logs)]
    KEPT.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{table(*added(lines))}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
