"""Random changes of declarations: the result is valid or refused with one clear sentence."""

from __future__ import annotations

import copy
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchbook.declare.catalogue import Catalogue, models
from benchbook.declare.toml import check
from benchbook.errors import RequestError

CATALOGUE = Catalogue()
FILES = [(kind, CATALOGUE.path(kind, name)) for kind in models() for name in CATALOGUE.names(kind)]

VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=8), st.integers(), max_size=3),
)  # fmt: skip

PYDANTIC = re.compile(r": (input|string|list|value|dictionary|tuple) should |unable to parse")
"""How sentences of pydantic begin."""


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, below in inner for place in places(below, (*path, key)))]


@pytest.mark.parametrize(("kind", "path"), FILES, ids=lambda one: one.stem if isinstance(one, Path) else one)
def test_committed_declarations_are_valid(kind: str, path: Path) -> None:
    assert check(tomllib.loads(path.read_text()), models()[kind], path.name)


@settings(max_examples=int(os.environ.get("BENCHBOOK_FUZZ") or 150))
@given(data=st.data())
def test_every_mutation_is_valid_or_one_sentence(data: st.DataObject) -> None:
    kind, path = data.draw(st.sampled_from(FILES))
    declared = copy.deepcopy(tomllib.loads(path.read_text()))
    place = data.draw(st.sampled_from([one for one in places(declared) if one]))
    holder: Any = declared
    for key in place[:-1]:
        holder = holder[key]
    change = data.draw(st.sampled_from(["replace", "remove", "rename"]))
    if change == "replace":
        holder[place[-1]] = data.draw(VALUES)
    elif change == "remove":
        del holder[place[-1]]
    elif isinstance(holder, dict):
        holder[data.draw(st.text(max_size=12))] = holder.pop(place[-1])
    try:
        check(declared, models()[kind], "given.toml")
    except RequestError as error:
        message = str(error)
        assert message.startswith("given.toml: ")
        assert len(message) < 2000
        assert "pydantic" not in message
        assert not PYDANTIC.search(message)
        assert "Traceback" not in message
