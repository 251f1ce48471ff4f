"""The error for a mistake in a declaration names the file, the key and what is allowed."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

import pytest

from benchbook.declare.dataset import Dataset
from benchbook.declare.experiment import Experiment
from benchbook.declare.system import System
from benchbook.declare.toml import Model, check, read
from benchbook.errors import RequestError

SYSTEM = """
name = "x"
title = "X"
driver = "x"
version = "1"
license = "MIT"
homepage = "example"
[source.host]
program = "x"
version_command = ["x"]
version_pattern = "(.*)"
[arms.vanilla]
description = "default"
[arms.vanilla.durability]
fsync = "never"
wal = "none"
replication = "none"
compression = "none"
"""

EXPERIMENT = """
title = "T"
question = "Which?"
dataset = "devops"
[factors]
system = ["duckdb"]
[[phases]]
name = "load"
workload = "load"
options = { batch_size = 10 }
[profiles.quick]
trial_seconds = 1
"""

DATASET = """
name = "d"
title = "D"
description = "d"
generator = "devops"
seed = 1
[parameters]
scale = 1
start = "2016-01-01T00:00:00Z"
end = "2016-01-02T00:00:00Z"
interval = "10s"
"""


def refusal(tmp_path: Path, model: type, text: str) -> str:
    path = tmp_path / "given.toml"
    path.write_text(text)
    with pytest.raises(RequestError) as caught:
        read(path, model, "given.toml")
    return str(caught.value)


def test_good_declarations_are_read(tmp_path: Path) -> None:
    for name, model, text in (("s", System, SYSTEM), ("e", Experiment, EXPERIMENT), ("d", Dataset, DATASET)):
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        assert read(path, model).title in "XTD"


@pytest.mark.parametrize(
    ("model", "old", "new", "words"),
    [
        (System, "driver =", "drivr =", ['"drivr"', "allowed:", 'Did you mean "driver"']),
        (System, "fsync =", "fsyncs =", ["arms.vanilla.durability", '"fsyncs"', 'Did you mean "fsync"']),
        (System, 'version = "1"', "", ["key version is missing"]),
        (System, 'version = "1"', "version = 1", ["version = 1: must be text, in quotes."]),
        (System, 'version = "1"', 'version = "1"\nmatch = "exactly"', ["match", "exact, series", '"exact"']),
        (System, 'name = "x"', 'name = "../x"', ["name", '"../x"']),
        (
            Experiment,
            'workload = "load"',
            'workload = "lod"',
            ["phases[0]", '"lod"', "load, original", '"load"'],
        ),
        (Experiment, "batch_size", "batchsize", ['phase "load"', '"batchsize"', '"batch_size"']),
        (
            Experiment,
            "batch_size = 10",
            "batch_size = 0",
            ['phase "load"', "batch_size = 0: must be at least 1"],
        ),
        (Experiment, "Which?", "Which", ["question mark"]),
        (
            Experiment,
            'system = ["duckdb"]',
            "arm = []",
            ["arm", "[]", "must have 1 or more entries, found 0"],
        ),
        (
            Experiment,
            "batch_size = 10",
            "batch_size = 5000000000",
            ["batch_size", "must be at most 4,194,304"],
        ),
        (Experiment, "batch_size = 10", 'batch_size = "x"', ['batch_size = "x": must be a whole number.']),
        (
            Experiment,
            'system = ["duckdb"]',
            'system = "duckdb"',
            ['must be a list. Write system = ["duckdb"].'],
        ),
        (Experiment, '["duckdb"]', "[2016-01-01]", ["must be text in quotes or a number or true or false"]),
        (Dataset, "scale = 1", "scale = 0", ["[parameters]", "scale = 0: must be at least 1."]),
        (Dataset, 'interval = "10s"', 'interval = "10"', ["interval", '"10"', '"10s"']),
        (Dataset, "2016-01-02", "2015-01-02", ["not after start"]),
        (Dataset, 'generator = "devops"', 'generator = "devop"', ['"devop"', 'did you mean "devops"']),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, model: type, old: str, new: str, words: list[str]) -> None:
    text = {System: SYSTEM, Experiment: EXPERIMENT, Dataset: DATASET}[model]
    assert old in text
    message = refusal(tmp_path, model, text.replace(old, new, 1))
    assert message.startswith("given.toml: ")
    assert "\n" not in message
    assert "?." not in message
    for word in words:
        assert word in message


def test_a_question_at_the_end_has_no_full_stop_after_it(tmp_path: Path) -> None:
    message = refusal(tmp_path, Dataset, DATASET.replace('generator = "devops"', 'generator = "devop"'))
    assert message.endswith('did you mean "devops"?')


def test_malformed_toml_names_the_line(tmp_path: Path) -> None:
    assert "line 2" in refusal(tmp_path, System, "name = 'x'\ntitle = = 1\n")


def test_not_utf8_is_told(tmp_path: Path) -> None:
    path = tmp_path / "given.toml"
    path.write_bytes(b"version = 1\nname = '\xff'")
    with pytest.raises(RequestError, match=r"given\.toml: is not UTF-8 text \(byte 0xff at line 2\)"):
        read(path, System)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no such file"):
        read(tmp_path / "none.toml", System)


def test_a_value_that_fits_no_alternative_is_one_mistake_at_its_key() -> None:
    class Options(Model):
        type: Literal["groupby", "groupby-max"] | list[Literal["groupby", "groupby-max"]]

    with pytest.raises(RequestError) as refused:
        check({"type": "group-by"}, Options, "experiment.toml")
    assert refused.value.message == 'experiment.toml: type = "group-by"; allowed: groupby, groupby-max.'
    assert refused.value.hint == 'Did you mean "groupby"?'


def test_a_time_that_is_none_is_shown_one() -> None:
    class Options(Model):
        end: datetime

    with pytest.raises(RequestError, match='"tomorrow": must be a time such as 2026-01-31T00:00:00Z'):
        check({"end": "tomorrow"}, Options, "datasets/devops.toml")
