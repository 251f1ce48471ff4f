"""Tables of a run's environment: machine, controls, storages, programs, durability and dataset."""

from __future__ import annotations

import json
import re
from statistics import fmean
from typing import Any

import polars as pl

from benchbook.analyse import quantity
from benchbook.analyse.cells import labelled
from benchbook.analyse.quantity import MISSING
from benchbook.analyse.rules import DURABILITY, durability_of
from benchbook.analyse.run import Run
from benchbook.declare.program_origin import is_origin, lacks_origin
from benchbook.host.reading import readable
from benchbook.plan.factors import FROM, SOURCE
from benchbook.report.table import Code, Details, Markdown, Table, missing

FIRST = (
    "machine",
    "cpu",
    "memory",
    "kernel",
    "operating_system",
    "virtualisation",
    "filesystem",
    "disk_speed",
    "limits",
    "cgroup",
)
"""Topics of the short table in order; the list of all facts appends the others by name."""
SHORT = 260
"""Most characters of a topic's facts in the short table."""
DURING = {
    "machine_steal_fraction": "Time stolen by the hypervisor",
    "psi_cpu_some_fraction": "Time some process waited for a processor",
    "psi_io_some_fraction": "Time some process waited for the disk",
    "psi_memory_some_fraction": "Time some process waited for memory",
}
"""Metric → title of its row."""


def environment_table(run: Run) -> Table | Markdown:
    """Return a row for each topic of the machine, and for stolen time and pressure during the trials."""
    facts = run.facts("host")
    if not facts:
        return missing("The environment", "the run has no facts on its machine")
    rows = [[quantity.headed(topic), _short(facts[topic])] for topic in FIRST if topic in facts]
    return Table(["Part", "Found"], rows + _during(run))


def all_facts(run: Run) -> Details | Markdown:
    """Return all recorded facts of the machine, folded; an unreadable fact gives the reason."""
    facts = run.facts("host")
    if not facts:
        return missing("The list of facts", "the run has no facts on its machine")
    order = [topic for topic in FIRST if topic in facts] + sorted(set(facts) - set(FIRST))
    rows = [[name, value] for topic in order for name, value in quantity.lines(facts[topic], (topic,))]
    return Details(f"All {len(rows)} recorded facts of the machine", Table(["Fact", "Found"], rows))


def provenance(run: Run) -> Table | Markdown:
    """Return revision, digests and seed of the harness and its inputs."""
    facts = run.facts("provenance")
    if not facts:
        return missing("The provenance", "the run recorded none")
    rows: list[list[str | Code]] = [["Run", Code(run.run_id)], ["Order seed", str(run.info["order_seed"])]]
    for name, value in quantity.lines(facts):
        long = value.startswith("sha256:") or (len(value) >= 40 and " " not in value)
        rows.append([quantity.headed(name), Code(value) if long else value])
    return Table(["Item", "Value"], rows)


def _short(facts: Any) -> str:
    parts = [
        f"{name}: {value}" if name else value
        for name, value in quantity.lines(facts)
        if value not in ("unknown", "") and readable(value)
    ]
    text = "; ".join(parts) or "not readable"
    return text if len(text) <= SHORT else text[: text.rfind(";", 0, SHORT)] + "; …"


def _during(run: Run) -> list[list[str]]:
    rows = []
    for metric, name in DURING.items():
        values = [value for found in run.phases_of(metric).values() for value in found.values.tolist()]
        if values:
            mean, largest = fmean(values), max(values)
            rows.append(
                [
                    name,
                    f"{quantity.percent(mean)} on average over the phases, at most {quantity.percent(largest)}",
                ]
            )
    return rows


ORDER = {"not controlled": 0, "unknown": 1, "controlled": 2}


def controls_table(run: Run) -> Table | Markdown:
    """Return a row for each control of the machine; those that were not controlled come first."""
    found = [one for one in run.fact_list("controls") if isinstance(one, dict)]
    if not found:
        return missing("The list of controls", "the run recorded none")
    found.sort(key=lambda one: ORDER.get(str(one.get("state")), 1))
    rows = [
        [
            quantity.headed(str(one.get("control", ""))),
            str(one.get("state", "")),
            quantity.fact_text(one.get("found")),
            str(one.get("fix") or ""),
        ]
        for one in found
    ]
    return Table(["Control", "State", "Found", "How to control it"], rows)


def storages_table(run: Run) -> Table | Markdown:
    """Return a row for each storage: file system, mount options and programs in its first valid trial."""
    found: dict[str, dict[str, Any]] = {}
    for name, facts in run.ok.select("storage", "storage_facts").iter_rows():
        if facts and name not in found:
            found[name] = json.loads(facts)
    if not found:
        return missing("The table of storages", "no trial of this run recorded its storage")
    rows = [
        [
            name,
            str(facts.get("type") or quantity.MISSING),
            _listed(facts.get("mount_options")),
            ", ".join(f"{program} {version}" for program, version in (facts.get("programs") or {}).items())
            or "none",
            _listed(facts.get("s3fs_options"))
            if facts.get("s3fs_options")
            else str(facts.get("made_with") or ""),
            _device(facts.get("below") or facts),
        ]
        for name, facts in sorted(found.items())
    ]
    return Table(["Storage", "File system", "Mounted with", "Programs", "Options", "Device below"], rows)


def _listed(value: Any) -> str:
    """Return options in a row; dots take the place of an address or a folder, which were not recorded.

    >>> _listed(["url={url}", "{keys}", "use_cache={cache}"])
    'url=…, …, use_cache=…'
    """
    if not isinstance(value, list):
        return str(value or quantity.MISSING)
    return ", ".join(re.sub(r"\{\w+\}", "…", str(one)) for one in value)


def _device(facts: dict[str, Any]) -> str:
    device = facts.get("device")
    name = str(device.get("name")) if isinstance(device, dict) else str(device or quantity.MISSING)
    return f"{facts.get('type')} on {name}" if isinstance(device, dict) else name


def pins_table(run: Run) -> Table | Markdown:
    """Return a row for each system, available or not, or for each of its sources if ``source`` is a factor.

    It shows the program, its source and the version that the system reported.
    """
    programs = run.facts("programs")
    declared = run.systems
    rows: list[list[str | Code]] = []
    for system, source in _used(run):
        program = programs.get(f"{system}{FROM}{source}" if source else system) or {}
        gone = program.get("unavailable")
        versions = ", ".join(_stated(run, system, source))
        rows.append(
            [
                run.title(system),
                str(declared.get(system, {}).get("version") or program.get("version") or MISSING),
                versions or "never ran",
                f"{source}: unavailable"
                if gone and source
                else "unavailable"
                if gone
                else str(program.get("source") or MISSING),
                str(gone or _details(program)),
                Code(str(program.get("digest") or "")),
            ]
        )
    if not rows:
        return missing("The pins", "no trial is recorded")
    return Table(["System", "Pinned version", "Reported version", "Source", "Details", "Digest"], rows)


def _details(program: dict[str, Any]) -> str:
    """Return how a program was found, and of one given by its path its origin, size and shared libraries."""
    parts = [str(program.get("detail") or MISSING)]
    if lacks_origin(program):
        parts.append("origin not stated")
    elif is_origin(program.get("origin")):
        parts.append(f"origin, as stated by the user: {program['origin']}")
    size, libraries = program.get("size"), program.get("libraries")
    if program.get("source") == "given" and isinstance(size, int):
        parts.append(quantity.text(size, "B"))
    if isinstance(libraries, list) and libraries:
        parts.append(f"loads {', '.join(str(one).partition(' ')[0] for one in libraries)}")
    return "; ".join(parts)


def _sources(run: Run) -> dict[str, str]:
    """Return trial → source of its program, if that is a factor."""
    levels = run.frame("levels").filter(pl.col("factor") == SOURCE)
    return dict(levels.select("trial_id", "level").iter_rows())


def _used(run: Run) -> list[tuple[str, str | None]]:
    """Return the systems of the run in order, with each source."""
    sources = _sources(run)
    pairs = dict.fromkeys(
        (system, sources.get(trial))
        for trial, system in run.frame("trials").select("trial_id", "system").iter_rows()
    )
    order = list(dict.fromkeys(one.system for one in labelled(run)))
    return sorted(pairs, key=lambda pair: (order.index(pair[0]), pair[1] or ""))


def _stated(run: Run, system: str, source: str | None) -> list[str]:
    """Return the versions that a system reported in its trials."""
    sources = _sources(run)
    trials = run.frame("trials").select("trial_id", "system", "version_reported").iter_rows()
    return sorted(
        {
            version
            for trial, name, version in trials
            if version and (name, sources.get(trial)) == (system, source)
        }
    )


UNKNOWN = "unknown: a running server"
"""Text for a server that the user gave by its address."""


def durability_table(run: Run) -> Table | Markdown:
    """Return a row for each system and arm: its description, durability and settings that differ from its defaults."""
    declared = run.systems
    programs = run.facts("programs")
    rows = []
    for system, arm in dict.fromkeys((one.system, one.arm) for one in labelled(run)):
        known = declared.get(system, {})
        named = (known.get("arms") or {}).get(arm) or {}
        durability = durability_of(run, system, arm)
        settings = named.get("settings") or {}
        changed = ", ".join(f"{key} = {quantity.fact_text(value)}" for key, value in settings.items())
        stated = [str(durability.get(key) or "not declared") for key in DURABILITY]
        if (programs.get(system) or {}).get("url"):
            # The user configured that server; Benchbook did not apply the arm's settings.
            stated, changed = [UNKNOWN] * len(DURABILITY), UNKNOWN
        what = " ".join(str(named.get("description") or "not described").split())
        recorded = named.get("durability") or known.get("durability") or {}
        corrections = durability.get("corrected")
        if corrections and corrections != recorded.get("corrected"):  # corrected after the run
            what += f" Corrected on {corrections[-1]['date']}: {corrections[-1]['reason']}"
        rows.append([run.title(system), arm or "vanilla", *stated, changed or "none", what])
    if not rows:
        return missing("The durability of the systems", "no trial is recorded")
    return Table(["System", "Configuration", *DURABILITY.values(), "Changed settings", "Description"], rows)


COUNTS = {"rows": "Rows", "values": "Values", "bytes": "Bytes of line protocol"}


def dataset_table(run: Run) -> Table | Markdown:
    """Return the dataset's name, parameters, size and digest."""
    facts = run.facts("dataset")
    planned = _planned(run)
    if not facts and not planned:
        return missing("The dataset", "the run recorded none")
    rows: list[list[str | Code]] = [["Name", str(facts.get("name") or planned.get("name") or "unknown")]]
    source = planned.get("source") or {}
    if source:
        rows.append(["File", Code(str(source.get("file")))])
    for key in () if source else ("generator", "seed"):
        value = facts.get(key, planned.get(key))
        if value is not None:
            rows.append([key.capitalize(), quantity.fact_text(value)])
    for key, value in (planned.get("parameters") or facts.get("parameters") or {}).items():
        rows.append([f"Parameter {key}", quantity.fact_text(value)])
    blobs = "blob" in (facts.get("generator"), planned.get("generator"))
    others = {"rows": "Objects", "bytes": "Bytes of objects"} if blobs else {}
    others = {"bytes": "Bytes of the rows in Arrow"} if source else others
    for key, name in (COUNTS | others).items():
        if isinstance(facts.get(key), int):
            size = f" ({quantity.text(float(facts[key]), 'B')})" if key == "bytes" else ""
            rows.append([name, quantity.count(facts[key]) + size])
    digest = facts.get("digest") or facts.get("sha256") or run.info["dataset_digest"]
    if digest:
        rows.append(
            ["Digest", Code(str(digest) if str(digest).startswith("sha256:") else f"sha256:{digest}")]
        )
    if run.info["queries_digest"]:
        rows.append(["Digest of the query set", Code(str(run.info["queries_digest"]))])
    return Table(["Item", "Value"], rows)


def _planned(run: Run) -> dict[str, Any]:
    """Return the dataset as the plan declares it; empty for a run without its plan."""
    try:
        text = (run.results / "runs" / run.run_id / "plan.json").read_text(encoding="utf-8")
        found = json.loads(text).get("dataset")
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
