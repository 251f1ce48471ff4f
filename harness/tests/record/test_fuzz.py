"""Random damage to results folders: readers use the intact parts and report the rest."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchbook.errors import BenchbookError, TrialFailed
from benchbook.record import database, runs
from benchbook.run.findings import EventFile, required_summary
from benchbook.systems.client import events
from tests.record import synthetic_operations, synthetic_run

EXAMPLES = int(os.environ.get("BENCHBOOK_FUZZ") or 150)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=8), st.integers(), max_size=3),
)  # fmt: skip
many = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("fuzz") / "results"
    run_id = synthetic_run.write(results, blocks=1, instances=1, telemetry_seconds=1, intervals=1)
    synthetic_operations.write(results / "runs" / run_id)
    return results


def changed(data: st.DataObject, content: bytes) -> bytes:
    """Truncate the file, change a byte, or replace a value in its JSON (or in one of its lines)."""
    ways = ["cut", "byte", "empty"] if content.startswith(b"PAR1") else ["cut", "byte", "value", "empty"]
    how = data.draw(st.sampled_from(ways))
    if how == "empty":
        return b""
    if how == "cut":
        return content[: data.draw(st.integers(0, len(content)))]
    if how == "byte" and content:
        place = data.draw(st.integers(0, len(content) - 1))
        return content[:place] + data.draw(st.binary(min_size=1, max_size=4)) + content[place + 1 :]
    lines = (
        content.decode().splitlines()
        if b"\n{" in content.strip() and not content.startswith(b"{\n")
        else [content]
    )
    number = data.draw(st.integers(0, len(lines) - 1))
    whole = json.loads(lines[number])
    places = list(_places(whole))
    holder: Any = whole
    *path, last = data.draw(st.sampled_from(places))
    for key in path:
        holder = holder[key]
    if isinstance(holder, dict) and data.draw(st.booleans()):
        del holder[last]
    else:
        holder[last] = data.draw(VALUES)
    lines[number] = json.dumps(whole)
    return "\n".join(line if isinstance(line, str) else line.decode() for line in lines).encode()


def _places(value: Any, path: tuple[Any, ...] = ()) -> Any:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield (*path, key)
        yield from _places(below, (*path, key))


@settings(many, max_examples=max(60, EXAMPLES // 4))
@given(data=st.data())
@pytest.mark.slow
def test_a_results_folder_with_any_damage_is_read_or_refused_in_words(
    original: Path, data: st.DataObject
) -> None:
    results = original.parent / "changed"
    shutil.rmtree(results, ignore_errors=True)
    shutil.copytree(original, results)
    files = sorted(
        path for path in results.glob("runs/**/*") if path.suffix in (".json", ".jsonl", ".parquet")
    )
    for path in data.draw(st.lists(st.sampled_from(files), min_size=1, max_size=2, unique=True)):
        path.write_bytes(changed(data, path.read_bytes()))
    said: list[str] = []
    try:
        database.rebuild(results, said.append)
        runs.listing(results, said.append)
    except BenchbookError as error:
        said.append(str(error))
    assert all(line and "Traceback" not in line for line in said)


GOOD = [
    {
        "v": 1,
        "type": "interval",
        "operation": "write",
        "start_ns": 0,
        "duration_ns": 10**9,
        "operations": 3,
        "rows": 9,
    },
    {
        "v": 1,
        "type": "error",
        "operation": "write",
        "kind": "refused",
        "status": 500,
        "message": "no",
        "operations": 1,
    },
    {"v": 1, "type": "histogram", "operation": "write", "kind": "latency", "encoded": "x", "count": 3},
    {
        "v": 1,
        "type": "summary",
        "operation": "write",
        "duration_ns": 10**9,
        "rows": 9,
        "values": 9,
        "bytes": 9,
    },
]


@many
@given(data=st.data())
def test_any_line_of_a_client_is_an_event_or_a_failed_trial(tmp_path: Path, data: st.DataObject) -> None:
    content = "\n".join(json.dumps(event) for event in GOOD).encode() + b"\n"
    lines = [line + b"\n" for line in changed(data, content).split(b"\n")]
    file = EventFile(tmp_path, lambda rate, unit: None)
    with contextlib.closing(file), contextlib.suppress(TrialFailed):  # any other error would be a traceback
        required_summary(file.take("load", events(lines, "benchload load")), "load")  # type: ignore[arg-type]
