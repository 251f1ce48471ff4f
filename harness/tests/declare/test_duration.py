"""A duration in place of a number of operations, as an option of a phase."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from benchbook.declare.duration import seconds
from benchbook.declare.experiment import Phase
from benchbook.errors import RequestError
from benchbook.workloads.blob import BlobOptions
from benchbook.workloads.load import LoadOptions
from benchbook.workloads.query import QueryOptions


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (
            QueryOptions,
            {"type": "groupby", "queries": 50},
            'queries = 50 and duration = "5s" both end the phase',
        ),
        (
            BlobOptions,
            {"do": "put", "operations": 7},
            'operations = 7 and duration = "5s" both end the phase',
        ),
    ],
)
def test_a_number_and_a_duration_are_refused(model: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        model(**options, duration="5s")
    assert model(**options).duration is None


def test_queries_of_a_duration_are_a_thousand_different_ones() -> None:
    assert QueryOptions(type="groupby").different == 100
    assert QueryOptions(type="groupby", queries=7).different == 7
    assert QueryOptions(type="groupby", duration="5s").different == 1000


@given(
    st.sampled_from(["load", "query", "blob"]), st.integers(1, 10**6), st.sampled_from(["ms", "s", "m", "h"])
)
def test_options_survive_the_plan(workload: str, number: int, unit: str) -> None:
    length = f"{number}{unit}"
    made: Any = {
        "load": LoadOptions(duration=length),
        "query": QueryOptions(type="groupby", duration=length),
        "blob": BlobOptions(do="get", duration=length),
    }[workload]
    again = type(made).model_validate(made.model_dump(mode="json"))
    assert again == made
    assert seconds(again.duration) > 0


def test_a_profile_or_a_factor_replaces_a_number_by_a_duration_and_back() -> None:
    counted = Phase(name="q", workload="query", options={"type": "groupby", "queries": 50})
    planned = Phase(
        name="q", workload="query", options=counted.typed(counted.options).model_dump(mode="json")
    )
    for phase in (counted, planned):
        lasting: Any = phase.replaced({"duration": "2s", "batch_size": 7})
        assert (lasting.queries, lasting.duration) == (None, "2s")
        again = Phase(name="q", workload="query", options=lasting.model_dump(mode="json"))
        back: Any = again.replaced({"queries": 5})
        assert (back.queries, back.duration) == (5, None)
    with pytest.raises(RequestError, match="both end the phase"):
        counted.replaced({"duration": "2s", "queries": 5})


def test_a_fixed_duration_stays() -> None:
    phase = Phase(name="l", workload="load", options={"duration": "9s"}, fixed=["duration"])
    lasting: Any = phase.replaced({"duration": "2s"})
    assert lasting.duration == "9s"
