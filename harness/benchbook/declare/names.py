"""The one pattern of each kind of name: whatever becomes part of a path is checked against it first.

A name from outside (the run id of an export, an experiment in a plan) may otherwise lead out of its folder, or name a
file that no file system takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]*$"
"""Of systems, arms, storages, datasets, experiments, profiles, phases and factors."""
LONGEST_NAME = 64
NAME_RULE = (
    f"lower-case letters, digits, dots, dashes and underscores, at most {LONGEST_NAME}, the first no sign"
)

_NAME = re.compile(NAME_PATTERN)
# Looser than what the plan makes, <experiment>-<YYYYMMDDTHHMMSS>-<4 hex>, because folders of runs may be renamed.
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PLANNED = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9a-f]{4}")
LONGEST_RUN_ID = 128
RUN_ID_RULE = f"letters, digits, dots, dashes and underscores, at most {LONGEST_RUN_ID}, the first no sign"
_TRIAL = re.compile(r"[0-9]{4,9}")

SHOWN = 60
"""Characters of an invalid name that an error repeats."""


def is_name(value: object) -> bool:
    r"""Return whether a value is a name that can also be a file's name.

    >>> is_name("influxdb-1.8.10"), is_name("../evil"), is_name("a\n"), is_name(5)
    (True, False, False, False)
    """
    return isinstance(value, str) and len(value) <= LONGEST_NAME and bool(_NAME.fullmatch(value))


def is_run_id(value: object) -> bool:
    r"""Return whether a value is the id of a run.

    >>> is_run_id("quickstart-20261120T220313-c1df"), is_run_id(".."), is_run_id("a/b"), is_run_id("a\0")
    (True, False, False, False)
    """
    return isinstance(value, str) and len(value) <= LONGEST_RUN_ID and bool(_RUN_ID.fullmatch(value))


def is_planned_id(value: object, experiment: str) -> bool:
    """Return whether a value is an id as ``plan`` makes it, which no name of an experiment and no word can be.

    >>> is_planned_id("quickstart-20261120T220313-c1df", "quickstart"), is_planned_id("quickstart", "quickstart")
    (True, False)
    """
    begin, of = f"{experiment}-", str(value)
    return is_run_id(value) and of.startswith(begin) and bool(_PLANNED.fullmatch(of.removeprefix(begin)))


def is_trial_of(value: object, run_id: str) -> bool:
    """Return whether a value is the id of a trial of this run: ``<run_id>/<NNNN>``.

    >>> is_trial_of("r-1/0003", "r-1"), is_trial_of("r-2/0003", "r-1"), is_trial_of("r-1/../r-2/0003", "r-1")
    (True, False, False)
    """
    if not isinstance(value, str):
        return False
    owner, _, number = value.partition("/")
    return owner == run_id and bool(_TRIAL.fullmatch(number))


def require(stated: Mapping[str, object]) -> None:
    """Raise ValueError unless run_id, experiment and profile in the description of a run are names."""
    kinds = (
        ("run_id", is_run_id, RUN_ID_RULE),
        ("experiment", is_name, NAME_RULE),
        ("profile", is_name, NAME_RULE),
    )
    for key, is_valid, rule in kinds:
        if key not in stated:
            raise ValueError(f'"{key}" is missing')
        if not is_valid(stated[key]):
            raise ValueError(f"{key} is {shown(stated[key])}, which is not the name of one: {rule}")


def shown(value: object) -> str:
    r"""Return an invalid name for an error: quoted, on one line, without control characters, and not too long.

    >>> print(shown("../evil"), shown("a\x1b[2J\n"), shown(5))
    "../evil" "a\x1b[2J\n" 5
    """
    text = value if isinstance(value, str) else repr(value)
    short = f"{text[:SHOWN]}…" if len(text) > SHOWN else text
    plain = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in short)
    return f'"{plain}"' if isinstance(value, str) else plain
