"""The identity of a processor, from the facts of a run."""

from typing import Any

import pytest

from benchbook.host import processor
from benchbook.host.processor import Processor

EPYC: dict[str, Any] = {
    "architecture": "x86_64",
    "model": "AMD EPYC",
    "flags_count": 105,
    "caches": [
        {"level": 1, "type": "Data", "size": "32K"},
        {"level": 1, "type": "Instruction", "size": "32K"},
        {"level": 2, "type": "Unified", "size": "1024K"},
    ],
}


def of(**changes: Any) -> Processor:
    found = processor.of({**EPYC, **changes})
    assert found is not None
    return found


def test_the_name_says_what_distinguishes_it() -> None:
    assert of().name == "AMD EPYC (L1d 32K, L1i 32K, L2 1024K, 105 flags)"
    assert of(caches="not readable: none", flags_count=None).name == "AMD EPYC"


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "Other"},
        {"flags_count": 106},
        {"caches": [{"level": 1, "type": "Data", "size": "48K"}]},
        {"architecture": "aarch64"},
    ],
)
def test_each_fact_distinguishes_processors_of_one_name(changes: dict[str, Any]) -> None:
    assert not of().same(of(**changes))
    assert not of(**changes).same(of())


def test_a_run_that_was_recorded_before_states_less() -> None:
    new = of(vendor="AuthenticAMD", family="26", model_number="2", stepping="1", flags_digest="ab")
    assert new.same(of())
    assert of().same(new)
    assert not new.same(of(stepping="2"))


@pytest.mark.parametrize("cpu", [{}, {"model": None}, {"model": "not readable: no such file"}])
def test_an_unknown_model_is_no_processor(cpu: dict[str, Any]) -> None:
    assert processor.of(cpu) is None
