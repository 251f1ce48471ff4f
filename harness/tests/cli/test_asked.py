"""A plan stores the options of its run, so that resuming does the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchbook.cli.request import planned
from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError
from benchbook.plan.plan import Plan


def asked(**options: Any) -> Plan:
    """Return the plan of a smoke run of the quickstart with these options."""
    nothing = {"sets": None, "trials": None, "order_seed": None, "systems": None}
    return planned(Catalogue(), "quickstart", "smoke", **{**nothing, **options})


@pytest.mark.parametrize("wanted", [False, True])
def test_single_operations_are_kept_after_a_resume_too(wanted: bool) -> None:
    data = json.loads(asked(record_operations=wanted).text())
    assert Plan.parse(data).record_operations == wanted
    del data["record_operations"]
    assert not Plan.parse(data).record_operations  # a plan of an earlier Benchbook


def test_single_operations_do_not_come_back_from_a_cluster() -> None:
    with pytest.raises(RequestError, match="--record-operations"):
        asked(cluster="local", record_operations=True)
