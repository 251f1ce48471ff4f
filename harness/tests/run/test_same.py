"""A run resumes only with the data, queries, programs and code with which it began."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.errors import RequestError, Unavailable
from benchbook.process.launch import Program
from benchbook.run import description
from benchbook.run.context import Context

PROGRAM = Program("a-system", "1", "go", digest="sha256:one")


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(description.benchload, "identity", lambda _: {"digest": "sha256:tool"})
    monkeypatch.setattr(
        "benchbook.run.description.provenance", lambda _: {"source_digest": "s", "lock_digest": "l"}
    )
    (tmp_path / "q.jsonl").write_text('{"id": 1}\n')
    return Context(
        SimpleNamespace(run_id="quickstart-1"), SimpleNamespace(root=tmp_path), tmp_path, tmp_path, tmp_path,
        tmp_path, SimpleNamespace(), {"a-system": PROGRAM}, {(): {"sha256": "data"}},
        {((), "q", 1): tmp_path / "q.jsonl"},
    )  # type: ignore[arg-type] # fmt: skip


def begun(context: Any) -> dict[str, Any]:
    return {
        "provenance": {
            "benchload": {"digest": "sha256:tool"}, "dataset_digest": "data",
            "queries_digest": context.queries_digest(), "source_digest": "s", "lock_digest": "l",
        },
        "programs": {"a-system": {"digest": "sha256:one"}},
    }  # fmt: skip


def test_the_same_goes_on(context: Any) -> None:
    description.check_same(context, begun(context))


def test_other_queries_are_refused(context: Any, tmp_path: Path) -> None:
    before = begun(context)
    (tmp_path / "q.jsonl").write_text('{"id": 2}\n')
    with pytest.raises(RequestError, match="the digest of queries was"):
        description.check_same(context, before)


def test_another_program_is_refused(context: Any) -> None:
    before = begun(context)
    before["programs"]["a-system"]["digest"] = "sha256:two"
    with pytest.raises(
        RequestError, match="the digest of a-system was sha256:two at its start, and is sha256:one now"
    ):
        description.check_same(context, before)


def test_a_program_that_is_gone_is_refused_not_skipped(context: Any) -> None:
    before = begun(context)
    context.plan.cluster = None
    context.programs["a-system"] = Unavailable("a-system: no such file.", "Install it.")
    with pytest.raises(
        RequestError, match=r"a-system was available at its start, and is not now: a-system: no such"
    ):
        description.check_same(context, before)
    before["programs"]["a-system"] = {"unavailable": "not found"}
    description.check_same(context, before)  # it was skipped from the start


def test_another_dataset_is_refused(context: Any) -> None:
    before = begun(context)
    context.digests[()] = {"sha256": "other"}
    with pytest.raises(RequestError, match="the digest of dataset was"):
        description.check_same(context, before)
