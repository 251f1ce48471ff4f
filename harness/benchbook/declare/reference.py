"""What the registry of workloads says, for people and editors: a reference page, and the schema of their options."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from benchbook.declare.metric import PHASE, SHARED, TRIAL, describe
from benchbook.declare.workload import Metric, Workload, workloads

HEAD = """# Workloads: options and metrics

Each phase of an experiment has a workload, and may set its `options`. A factor or a profile may replace each of them.
Claims name the metrics. [Add an experiment](adding-an-experiment.md#phases) explains what each workload does.

`python -m benchbook.declare.catalogue` writes this page from the code.
"""
MEASURED = {PHASE: "Measured in every phase", TRIAL: "Measured in every trial"}
BETTER = {"higher": "higher", "lower": "lower", "none": ""}


def page() -> str:
    """Return the content of ``docs/workloads.md``."""
    return "\n".join([HEAD, *map(_section, workloads().values()), *map(_measured, MEASURED)])


def _measured(place: str) -> str:
    found = [one for one in SHARED if one.measured_in == place]
    return "\n".join([f"## {MEASURED[place]}\n", *_metrics(found), ""])


def _section(one: Workload) -> str:
    schema = one.options.model_json_schema()
    required = schema.get("required", [])
    options = [
        (
            f"`{name}`",
            _values(held, schema),
            "required" if name in required else _default(held),
            _meaning(held),
        )
        for name, held in schema["properties"].items()
    ]
    names = [name if isinstance(name, str) else name.name for name in one.metrics]
    metrics = [describe(name) for name in dict.fromkeys(names)]
    return "\n".join(
        [
            f"## {one.name}\n",
            f"{_meaning(schema)}\n",
            *_table(("Option", "Values", "Default", "Meaning"), options),
            "",
            *_metrics(metrics),
            "",
        ]
    )


def _metrics(metrics: Iterable[Metric]) -> list[str]:
    rows = [(f"`{each.name}`", each.unit, BETTER[each.direction], each.title) for each in metrics]
    return _table(("Metric", "Unit", "Better", "Meaning"), rows)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    lines = [head, ("---",) * len(head), *rows]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]


def _meaning(schema: dict[str, Any]) -> str:
    return " ".join(str(schema.get("description", "")).replace("``", "`").split())


def _default(schema: dict[str, Any]) -> str:
    default = schema.get("default")
    return "" if default is None else f"`{json.dumps(default)}`"


def _values(schema: dict[str, Any], whole: dict[str, Any]) -> str:
    """Return which values an option may have."""
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return " or ".join(_values(one, whole) for one in schema["anyOf"] if one.get("type") != "null")
    if choices := schema.get("enum") or ([schema["const"]] if "const" in schema else []):
        return ", ".join(f"`{json.dumps(one)}`" for one in choices)
    kind = {"integer": "whole number", "number": "number", "boolean": "`true` or `false`", "string": "text"}
    kinds = {**kind, "array": "list", "object": "table"}
    limits = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to"}
    ends = [f"{word} {schema[key]:,.12g}" for key, word in limits.items() if key in schema]
    return " ".join([kinds.get(schema.get("type", ""), "any"), *ends])


def with_options(experiment: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of experiments with the options of each workload, so that an editor completes them."""
    phase = experiment["$defs"]["Phase"]
    phase["properties"]["workload"]["enum"] = list(workloads())
    phase["allOf"] = []
    for name, one in workloads().items():
        options = one.options.model_json_schema(ref_template="#/$defs/{model}")
        experiment["$defs"] |= options.pop("$defs", {})
        experiment["$defs"][one.options.__name__] = options
        then = {"properties": {"options": {"$ref": f"#/$defs/{one.options.__name__}"}}}
        phase["allOf"].append({"if": {"properties": {"workload": {"const": name}}}, "then": then})
    return experiment
