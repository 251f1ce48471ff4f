"""What a system holds after a load is compared with what was sent, field by field and database by database."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchbook.run.findings import Findings
from benchbook.systems.driver import TableCount
from benchbook.workloads import load
from benchbook.workloads.load import LoadOptions

DIGEST: Any = {
    "rows": 10, "values": 18, "bytes": 900,
    "tables": {"cpu": {"rows": 10, "fields": {"user": 10, "steal": 8}}},
}  # fmt: skip


def checked(findings: Findings) -> dict[str, tuple[float, float, bool]]:
    return {one["name"]: (one["expected"], one["found"], one["ok"]) for one in findings.checks}


def test_a_field_that_the_system_lacks_has_no_values() -> None:
    findings = Findings()
    findings.check_counts(DIGEST, {"cpu": TableCount(10, {"user": 10})})
    assert checked(findings) == {
        "rows in cpu": (10, 10, True),
        "values in cpu.user": (10, 10, True),
        "values in cpu.steal": (8, 0, False),
    }


def test_a_table_that_the_system_lacks_has_nothing() -> None:
    findings = Findings()
    findings.check_counts(DIGEST, {})
    assert {found for _, found, _ in checked(findings).values()} == {0}
    assert not any(ok for *_, ok in checked(findings).values())


def test_after_a_load_for_a_time_a_field_that_is_always_filled_is_not_missing() -> None:
    findings = Findings()
    findings.check_written(DIGEST, {"cpu": TableCount(5, {"steal": 9})}, 5, 9)
    assert checked(findings)["values in cpu.user"] == (5, 0, False)


@pytest.mark.parametrize(
    ("held", "share"), [((18, 18), 1.0), ((18, 9), 0.75), ((30, 9), 0.75), ((30, 30), 1.0), ((0, 0), 0.0)]
)
def test_more_than_was_acknowledged_in_one_database_makes_up_for_no_loss_in_another(
    monkeypatch: pytest.MonkeyPatch, held: tuple[int, int], share: float
) -> None:
    left = iter(held)
    monkeypatch.setattr(
        load, "_counted", lambda *_, **__: ({"cpu": TableCount(10, {"user": next(left)})}, "")
    )
    driver = SimpleNamespace(not_required=("benchbook", "benchbook_2"))
    steps = cast("Any", SimpleNamespace(driver=driver, findings=Findings(), digest=DIGEST))
    client = {"rows": 10, "values": 18}
    assert load._found(steps, LoadOptions(clients=2), {"clients": [client, client]}) == share
