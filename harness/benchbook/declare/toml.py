"""Read a TOML file into a strict model, and report mistakes with file, key and fix."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from benchbook.declare.names import LONGEST_NAME, NAME_PATTERN
from benchbook.declare.toml_file import load
from benchbook.errors import RequestError, nearest, sentence


class Model(BaseModel):
    """Base class of every declaration: immutable, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN, max_length=LONGEST_NAME)]
"""A name that is also a file name: lower-case letters, digits, dots, dashes and underscores."""

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text for people to read; never empty."""

Positive = Annotated[int, Field(ge=1)]


M = TypeVar("M", bound=BaseModel)


def read(path: Path, model: type[M], label: str | None = None) -> M:
    """Return the declaration in ``path``; raise RequestError if it is missing, malformed or invalid."""
    return check(load(path, label), model, label or str(path))


def check(data: Any, model: type[M], shown: str) -> M:
    """Return ``data`` as ``model``; raise RequestError that names ``shown`` and the first wrong key."""
    try:
        return model.model_validate(data)
    except RequestError as error:  # raised by the separate model of a nested table
        raise RequestError(f"{shown}: {error.message}", error.hint) from None
    except ValidationError as error:
        # A misspelt key also counts as missing under its right name: report the misspelling.
        problems = sorted(
            map(_named, error.errors()), key=lambda problem: problem["type"] != "extra_forbidden"
        )
        message, hint = _explain(_one_of(problems), model)
        rest = len({_place(problem["loc"]) for problem in problems}) - 1
        more = f" (The file has {rest} more {'mistake' if rest == 1 else 'mistakes'}.)" if rest else ""
        raise RequestError(f"{shown}: {message}{more}", hint) from None


def _explain(problem: ErrorDetails, model: type[BaseModel]) -> tuple[str, str | None]:
    """Return message and hint for a problem that pydantic found."""
    key = _key(problem["loc"])
    found = _found(problem.get("input"))
    if problem["type"] == "extra_forbidden":
        allowed = sorted(_schema_at(model, problem["loc"][:-1]).get("properties", {}))
        guess = nearest(str(problem["loc"][-1]), allowed)
        table = f" in [{_key(problem['loc'][:-1])}]" if len(problem["loc"]) > 1 else ""
        message = f'there is no key "{problem["loc"][-1]}"{table}; allowed: {", ".join(allowed)}.'
        return message, f'Did you mean "{guess}"?' if guess else None
    if problem["type"] == "missing":
        return f"the key {key} is missing.", "Add it; docs/schema describes every key."
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "value_error":
        return sentence(f"{key}: {message}" if key else message), None
    if problem["type"] == "literal_error":
        expected = str(problem.get("ctx", {}).get("expected", ""))
        allowed = [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]
        guess = nearest(str(problem.get("input")), allowed)
        return (
            f"{key} = {found}; allowed: {', '.join(allowed)}.",
            f'Did you mean "{guess}"?' if guess else None,
        )
    pattern = problem["type"] == "string_pattern_mismatch"
    if pattern and (examples := _schema_at(model, problem["loc"]).get("examples")):
        form = problem.get("ctx", {}).get("pattern")
        return (
            f"{key} = {found}: this is not of the form {form}.",
            f"Write it like {' or '.join(examples)}.",
        )
    hint = None
    if problem["type"] == "list_type" and isinstance(problem["input"], str | int | float):
        hint = f"Write {problem['loc'][-1]} = [{found}]."
    return f"{key} = {found}: {required(problem) or message[0].lower() + message[1:]}.", hint


_REQUIRED = {
    "int": "must be a whole number",
    "float": "must be a number",
    "finite_number": "must be a finite number",
    "decimal": "must be a number",
    "bool": "must be true or false",
    "string_type": "must be text, in quotes",
    "string_unicode": "must be text in UTF-8",
    "string_pattern_mismatch": "is not of the form {pattern}",
    "list": "must be a list",
    "tuple": "must be a list",
    "dict": "must be a table of keys and values",
    "mapping": "must be a table of keys and values",
    "model": "must be a table of keys and values",
    "dataclass": "must be a table of keys and values",
    "literal": "must be {expected}",
    "missing": "is missing",
    "extra_forbidden": "is not a key",
    "unexpected_keyword_argument": "is not a key",
    "datetime": "must be a time such as 2026-01-31T00:00:00Z",
    "date": "must be a date such as 2026-01-31",
    "none_required": "must be left out",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be more than {gt:g}",
    "less_than_equal": "must be at most {le:,}",
    "less_than": "must be less than {lt:g}",
    "too_short": "must have {min_length} or more entries, found {actual_length}",
    "too_long": "may have at most {max_length} entries, found {actual_length}",
}
"""What a value must be, by the kind of pydantic's problem or the beginning of its name."""


def required(problem: ErrorDetails) -> str | None:
    """Return what the value of a problem of pydantic must be; None for a kind that no record has today."""
    kind, facts = problem["type"], problem.get("ctx", {})
    if kind == "string_too_short":
        return "must not be empty" if facts["min_length"] == 1 else f"needs {facts['min_length']} characters"
    if kind == "string_too_long":
        return f"may have at most {facts['max_length']} characters"
    if facts.get("pattern") == NAME_PATTERN:
        return "may have only lower-case letters, digits, dots, dashes and underscores"
    found = _REQUIRED.get(kind) or _REQUIRED.get(kind.partition("_")[0])
    return found and found.format_map(facts)


def _named(problem: ErrorDetails) -> ErrorDetails:
    """Return a problem without pydantic's names of alternatives, such as ``literal['a','b']``, in its place."""
    return {**problem, "loc": tuple(part for part in problem["loc"] if not _ALTERNATIVE.match(str(part)))}


def _place(location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Return where a problem is: a value that fits none of several types has one for each."""
    return location[:-1] if location and location[-1] in _TYPES else location


_ALTERNATIVE = re.compile(r"(literal|list|tuple|dict|union|function-\w+|constrained-\w+|tagged-union)\[")
"""The beginning of a name of pydantic for one of the types that a value may have."""


def _one_of(problems: list[ErrorDetails]) -> ErrorDetails:
    """Return the first problem; if a value fits none of several types, a problem that names all of them."""
    first = problems[0]
    if not first["loc"]:  # the file as a whole
        return first
    *place, last = first["loc"]
    alternatives = [one for one in problems if one["loc"][:-1] == first["loc"][:-1]]
    types = {str(one["loc"][-1]) for one in alternatives}
    if len(types) > 1 and types <= _TYPES.keys():
        words = " or ".join(dict.fromkeys(text for name, text in _TYPES.items() if name in types))
        return {**first, "type": "value_type", "loc": tuple(place), "msg": f"must be {words}"}
    return {**first, "loc": tuple(place)} if last in _TYPES and types == {last} else first


_TYPES = {"str": "text in quotes", "int": "a number", "float": "a number", "bool": "true or false"}
"""Names of pydantic for the types that a value may have."""


def _key(location: tuple[int | str, ...]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).removeprefix(".")


def _found(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else text[:77] + "…"


def _schema_at(model: type[BaseModel], location: tuple[int | str, ...]) -> dict[str, Any]:
    """Return the JSON schema of the value at ``location``, following nested models."""
    schema: dict[str, Any] = model.model_json_schema()
    node: Any = schema
    for part in location:
        node = _resolve(node, schema)
        if isinstance(part, int):
            node = node.get("items", {})
        else:
            by_pattern = next(iter(node.get("patternProperties", {}).values()), None)
            node = (
                node.get("properties", {}).get(part) or by_pattern or node.get("additionalProperties") or {}
            )
    return _resolve(node, schema)


def _resolve(node: Any, schema: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(node, dict):
        return {}
    for option in node.get("anyOf", []):
        if "$ref" in option:
            node = option
    while "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return dict(node)
