"""A factor replaces an option of every phase that has it, unless the phase fixes it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.experiment import Phase
from benchbook.plan.plan import plan
from benchbook.workloads.load import LoadOptions
from benchbook.workloads.query import QueryOptions

QUERY: dict[str, Any] = {"name": "last-loc", "workload": "query", "options": {"type": "last-loc"}}


def test_a_fixed_option_is_not_a_factors() -> None:
    assert Phase.model_validate(QUERY).accepts("workers")
    fixed = {**QUERY, "fixed": ["workers"]}
    assert not Phase.model_validate(fixed).accepts("workers")
    options = Phase.model_validate(fixed).replaced({"workers": 100, "queries": 7})
    assert isinstance(options, QueryOptions)
    assert (options.workers, options.queries) == (1, 7)


def test_an_unknown_fixed_option_names_the_nearest() -> None:
    with pytest.raises(ValidationError, match='no option "worker"; did you mean "workers"'):
        Phase.model_validate({**QUERY, "fixed": ["worker"]})


def test_the_workers_of_the_flagship_are_those_of_its_load() -> None:
    made = plan(Catalogue(), "cnos-vs-influx", "queries")
    assert len(made.phases) > 1
    for phase in made.phases:
        options = phase.replaced(made.trials[0].levels)
        assert not isinstance(options, LoadOptions) or options.workers == 100
        assert not isinstance(options, QueryOptions) or options.workers == 1
