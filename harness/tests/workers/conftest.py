"""Small batches and a generator in place of benchload."""

import datetime as dt
import sys
from pathlib import Path

import pyarrow as pa
import pytest

SECOND = 1_000_000_000
START = 1_451_606_400 * SECOND
"""2016-01-01T00:00:00Z in ns."""


def batch(first, rows, hosts=("host_0", "host_1")):
    """Make a batch of cpu: one row per second, hosts in turn, value = number of the row; one null count."""
    numbers = range(first, first + rows)
    schema = pa.schema(
        [
            ("time", pa.timestamp("ns", "UTC")),
            ("hostname", pa.string()),
            ("usage_user", pa.float64()),
            ("count", pa.int64()),
        ],
        metadata={"table": "cpu"},
    )
    return pa.record_batch(
        [
            pa.array([START + n * SECOND for n in numbers], pa.timestamp("ns", "UTC")),
            pa.array([hosts[n % len(hosts)] for n in numbers]),
            pa.array([float(n) for n in numbers]),
            pa.array([None if n == 0 else n for n in numbers], pa.int64()),
        ],
        schema=schema,
    )


GENERATOR = """#!/bin/sh
''''exec "{python}" "$0" "$@" # '''
import io, sys
sys.path.insert(0, {folder!r})
import pyarrow as pa
from batches import batch
batches = int(sys.argv[1])
for number in range(batches):
    one = batch(number * 10, 10)
    with pa.ipc.new_stream(sys.stdout.buffer, one.schema) as stream:
        stream.write_batch(one)
{after}
"""


@pytest.fixture
def generator(tmp_path):
    """Return a maker of commands that write batches of ten rows, as benchload does, then run ``after``."""

    def make(batches, after=""):
        (tmp_path / "batches.py").write_text(SOURCE)
        program = tmp_path / "generator.py"
        program.write_text(GENERATOR.format(python=sys.executable, folder=str(tmp_path), after=after))
        program.chmod(0o755)
        return [str(program), str(batches)]

    return make


_text = Path(__file__).read_text(encoding="utf-8")
SOURCE = _text[: _text.index("\nGENERATOR")].replace("import pytest\n", "")
assert dt.datetime.fromtimestamp(START // SECOND, dt.UTC).year == 2016
