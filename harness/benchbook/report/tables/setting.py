"""Table of the publication and the rerun side by side: machine, versions, data, clients, durability, trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any

from benchbook.analyse import quantity, wording
from benchbook.analyse.cells import labelled
from benchbook.analyse.rules import durability_of
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.duration import seconds
from benchbook.declare.experiment import merged
from benchbook.declare.level import natural
from benchbook.declare.system import NO_WRITES
from benchbook.declare.workload import having
from benchbook.plan.factors import FROM
from benchbook.report import opening
from benchbook.report.table import Block, Table, escape_html, escape_markdown

SOURCES = {"devops": "hosts", "iot": "trucks"}
"""Generator → what its ``scale`` counts."""

OWN_CLIENT = "benchload, Benchbook's load generator, on the same machine"
"""The client of systems that are servers."""
MOST_ARMS = 2
"""Most configurations of a system that are named; of more with the same durability, only the number."""


def table(run: Run) -> Table | Block:
    """Return a row for each part of the setting, beside that of the publication, and mark the parts that differ.

    A part that ``[publication.setting]`` lacks is "not stated". Without that table, only the run is shown.
    """
    publication = Catalogue().publication(run.experiment)
    ours = {
        "Machine": "; other runs on ".join(filter(None, [machine(run), wording.listing(_others(run))])),
        "Versions": ", ".join(
            [*dict.fromkeys(_version(run, cell.system) for cell in labelled(run) if cell.ok), *_programs(run)]
        ),
        "Data": _data(run),
        "Clients": _clients(run),
        "Durability": _durability(run, labelled(run), run.title),
        "Trials": _trials(run),
    }
    ours = {name: text for name, text in ours.items() if text}
    if publication is None or publication.setting is None:
        return Table(["Part", "This run"], [[name, text] for name, text in ours.items()], stacked=True)
    published = publication.setting.model_dump()
    rows = [
        [name, published[name.lower()] or "not stated", text, _difference(published[name.lower()], text)]
        for name, text in ours.items()
    ]
    made = Table(["Part", "Published", "Rerun", "Difference"], rows, stacked=True)
    markup = made.html()
    for row in rows:
        if row[-1] == "differs":
            first = f'<tr><td data-column="Part">{escape_html(row[0])}</td>'
            markup = markup.replace(first, first.replace("<tr>", '<tr class="differs">'), 1)
    return Block(f'<div class="bb-setting">{markup}</div>', made.markdown())


def uncontrolled(run: Run) -> Block | None:
    """Return the section on what the publication did not control; None if its table names nothing."""
    publication = Catalogue().publication(run.experiment)
    if publication is None or not publication.uncontrolled:
        return None
    title, found = "What the publication did not control", publication.uncontrolled
    items = "".join(f"<li>{escape_html(one)}</li>" for one in found)
    listed = "\n".join(f"- {escape_markdown(one)}" for one in found)
    return Block(f'<h2 id="uncontrolled">{title}</h2><ul>{items}</ul>', f"## {title}\n\n{listed}")


def _difference(published: str | None, ours: str) -> str:
    if published is None or published.startswith("not stated"):
        return "unknown"
    # The order of systems or levels is no difference.
    parts = [sorted(text.split(", ")) for text in (published, ours)]
    return "same" if parts[0] == parts[1] else "differs"


def machine(run: Run) -> str:
    """Return the machine in a phrase: cores, processor, memory, operating system, virtual or not."""
    # A topic that could not be read is a text.
    host = {name: facts for name, facts in run.facts("host").items() if isinstance(facts, dict)}
    cpu, memory = host.get("cpu", {}), host.get("memory", {})
    cores = cpu.get("usable_cores", cpu.get("logical_cores"))
    size = memory.get("total_bytes")
    virtual = host.get("virtualisation", {}).get("hypervisor_flag")
    parts = [f"{cores} cores of {cpu.get('model', 'an unknown processor')}"] if cores else []
    parts += [f"{size / 1e9:.0f} GB of memory"] if isinstance(size, int) else []
    parts += [str(host.get("operating_system", {}).get("name") or "")]
    parts += ["virtual machine"] if virtual is True else []
    return ", ".join(part for part in parts if part)


def _others(run: Run) -> list[str]:
    """Return the other processors with published runs, which answers may rest on."""
    return list(opening.processors(run))[1:]


def _version(run: Run, system: str) -> str:
    """Return the title of a system, with the version that it reported if the title has another one or none."""
    title = run.title(system)
    stated = sorted({one for cell in run.cells if cell.system == system for one in cell.versions})
    if not stated or not stated[0][:1].isdigit() or stated[0] in title:
        return title
    number = title.rpartition(" ")[2]
    other = number[:1].isdigit() and not stated[0].startswith(number)
    return f"{title} ({'reports ' if other else ''}{stated[0]})"


def _programs(run: Run) -> list[str]:
    """Return name and version of the programs that are no system of the run: storages and tools such as fio."""
    systems = {cell.system for cell in run.cells}
    return [
        f"{name} {found['version']}"
        for name, found in sorted(run.facts("programs").items())
        if name.partition(FROM)[0] not in systems and found.get("version")
    ]


def _data(run: Run) -> str:
    if _levels(run, "tool"):
        return "each tool generates its own"
    facts: dict[str, Any] = run.facts("dataset")
    sizes, stocks = _levels(run, "size"), _levels(run, "stocks")
    if sizes:
        counts = [f"{int(level):,}" for level in _levels(run, "count")]
        number = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else quantity.count(facts.get("objects"))
        words = [wording.size_words(size) for size in sizes]
        return f"{number} objects of {', '.join(words)}"
    if stocks:
        return f"synthetic bars of {' and '.join(stocks)} stocks"
    made = dict.fromkeys(one.name for one, _ in run.phases_having(lambda one: one.own_data))
    if made and not run.loads:
        return f"made by the workload {wording.listing(list(made))}, with the options of its phases"
    if source := (run.facts("planned").get("dataset") or {}).get("source"):
        return _file(source, facts.get("rows"))
    return _generated(run, facts) if facts.get("rows") else ""


def _generated(run: Run, facts: dict[str, Any]) -> str:
    """Return the rows that a generator makes: how many, or for how long they are loaded."""
    rows, scale = facts.get("rows"), facts.get("scale")
    noun = SOURCES.get(str(facts.get("generator")))
    scales = _levels(run, "scale")
    of = f" of {wording.listing(scales or [str(scale)])} {noun}" if scale and noun else ""
    profile = (run.declared.get("profiles") or {}).get(run.profile) or {}
    by_duration: dict[str, list[str]] = {}
    loading = having(lambda one: one.loads)
    for phase in run.declared.get("phases") or []:
        name = str(phase["name"])
        if phase.get("workload") not in loading or name not in (profile.get("phases") or [name]):
            continue
        alone = (profile.get("phase_options") or {}).get(name) or {}
        duration = merged(profile.get("options") or {}, alone).get("duration")
        if duration and "duration" not in (phase.get("fixed") or []):
            by_duration.setdefault(duration, []).append(name)
    size = f"{quantity.text(float(facts['bytes']), 'B')} as text" if facts.get("bytes") else ""
    if by_duration:
        each = [
            f"in the {'phase' if len(names) == 1 else 'phases'} {wording.listing(names)}, "
            f"each client writes for {seconds(duration):g} s in each trial"
            for duration, names in by_duration.items()
        ]
        return "; ".join([f"synthetic rows{of}", *each])
    if len(scales) > 1:  # the facts are those of one of the datasets
        return f"synthetic rows{of or f' at the scales {wording.listing(scales)}'}"
    return ", ".join(filter(None, (f"{quantity.count(rows)} synthetic rows{of}", size)))


def _file(source: dict[str, Any], rows: int | None) -> str:
    """Return the name of the file of a dataset, with its rows if it has some."""
    stated = str(source.get("file", "")).partition("?")[0]  # what follows may be a secret
    name = PurePath(stated).name or stated
    if rows:
        return f"{quantity.count(rows)} rows of the file {name}"
    return f"the {'folder' if source.get('format') == 'folder' else 'file'} {name}"


def _clients(run: Run) -> str:
    if _levels(run, "tool"):
        return ""
    each = " per client" if (clients := _levels(run, "clients")) else ""
    flight = [f"{', '.join(found)} operations in flight{each}"] if (found := _levels(run, "workers")) else []
    if reads := _levels(run, "in_flight"):
        shown = ["as published" if level == "published" else level for level in reads]
        flight.append(f"reads in flight: {' or '.join(sorted(shown, key=str.isdigit))}")
    inside = all(run.embedded(cell.system) for cell in labelled(run))
    usual = "one client process, in which the system runs" if inside else OWN_CLIENT
    parts = sorted({one.client or usual for one, _ in run.phases_having(lambda _: True)}) or [usual]
    parts += [f"{', '.join(clients)} clients"] if clients else []
    return "; ".join([*parts, *flight])


def _levels(run: Run, factor: str) -> list[str]:
    """Return the levels of a factor in the run, numbers in their order."""
    found = dict.fromkeys(cell.levels[factor] for cell in labelled(run) if factor in cell.levels)
    return sorted(found, key=natural)


def brief(run: Run, cells: Sequence[Cell]) -> str:
    """Return in a line the machine, and the versions of some cells with their durability."""
    durable = _durability(run, cells, lambda system: _version(run, system)).replace(f": {NO_WRITES}", "")
    return ". ".join(filter(None, [machine(run), durable]))


def _durability(run: Run, cells: Sequence[Cell], title: Callable[[str], str]) -> str:
    """Return for each system when an acknowledged write is flushed, without the settings in parentheses.

    Configurations of one system that differ are named.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for system, arm in dict.fromkeys((cell.system, cell.arm) for cell in cells if cell.ok):
        text = str(durability_of(run, system, arm).get("fsync") or "not declared").partition(" (")[0]
        text = "no sync" + text.removeprefix("none") if text.startswith("none") else text
        found.setdefault(text.partition(";")[0], {}).setdefault(system, []).append(arm)
    texts = Counter(system for systems in found.values() for system in systems)

    def named(system: str, arms: list[str]) -> str:
        if texts[system] == 1:
            return title(system)
        which = ", ".join(arms) if len(arms) <= MOST_ARMS else f"{len(arms)} other configurations"
        return f"{title(system)} ({which})"

    return "; ".join(
        f"{', '.join(named(*one) for one in systems.items())}: {text}" for text, systems in found.items()
    )


def _trials(run: Run) -> str:
    counts = [cell.ok for cell in labelled(run) if cell.ok]
    if not counts:
        return "none valid"
    each = str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    return f"{each} of each setup, in shuffled blocks"
