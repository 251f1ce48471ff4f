"""Turn the options of ``bench plan``, ``run`` and ``aa`` into a plan."""

from __future__ import annotations

from dataclasses import replace

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.names import shown
from benchbook.declare.program_origin import FORMS, is_origin
from benchbook.errors import RequestError
from benchbook.plan.factors import parse_set
from benchbook.plan.plan import Plan, plan
from benchbook.provision.find import preview
from benchbook.provision.request import Request
from benchbook.run.content import require_possible
from benchbook.systems.driver import driver_class
from benchbook.systems.python_worker import EmbeddedDriver, refused


def parse_system(texts: list[str], catalogue: Catalogue) -> dict[str, str]:
    """Return ``--system NAME=PATH-or-URL`` texts as system → program; raise RequestError for a malformed one."""
    given: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise RequestError(
                f"--system {text}: expected NAME=PATH or NAME=URL, the program or server to use for a system.",
                f"To choose the systems of the run, use --set system={name or 'a,b'}.",
            )
        catalogue.path("system", name)
        given[name] = value
    return given


def parse_origins(texts: list[str], given: dict[str, str]) -> dict[str, str]:
    """Return ``--origin NAME=TEXT`` texts as system → origin; raise RequestError for a malformed one."""
    origins: dict[str, str] = {}
    for text in texts:
        name, equals, origin = text.partition("=")
        if not equals or not is_origin(origin):
            forms = ", ".join(f'"{form}"' for form in FORMS)
            raise RequestError(
                f"--origin {shown(text)[1:-1]}: expected NAME=ORIGIN, where ORIGIN is one of: {forms}.",
                f"For example: --origin '{name or 'NAME'}=image IMAGE:TAG'",
            )
        if "://" in given.get(name, "://"):
            raise RequestError(
                f"--origin {name}=…: there is no --system {name}=PATH, whose program it would describe.",
                f"Add --system {name}=PATH, or leave --origin out.",
            )
        origins[name] = origin
    return origins


def planned(
    catalogue: Catalogue,
    slug: str,
    profile: str,
    sets: list[str] | None,
    trials: int | None,
    order_seed: int | None,
    systems: list[str] | None,
    against_itself: bool = False,
    cluster: str | None = None,
    record_operations: bool = False,
    origins: list[str] | None = None,
) -> Plan:
    """Return the plan that the options request; raise RequestError if one of them is invalid."""
    given = parse_system(systems or [], catalogue)
    made = plan(
        catalogue, slug, profile, parse_set(sets or []), trials=trials, order_seed=order_seed, given=given,
        against_itself=against_itself,
    )  # fmt: skip
    if record_operations and cluster:
        raise RequestError(
            "--record-operations does not work with --cluster: the operations would stay on the client's machine.",
            "Leave one of them out. A run on a cluster still records the latencies of each second, as histograms.",
        )
    made = replace(made, record_operations=record_operations, origins=parse_origins(origins or [], given))
    unused = sorted(set(given) - set(made.systems()))
    if unused:
        raise RequestError(
            f"--system {unused[0]}=…: this run does not use {unused[0]}, only {', '.join(made.systems())}.",
            f"Leave it out, or add the system to the run: --set system={','.join([*made.systems(), unused[0]])}.",
        )
    _require_accepted(made, catalogue)
    require_possible(made, catalogue, cluster=cluster is not None)
    if cluster is None:
        for name in made.given:  # reports a missing path before the plan is stored
            preview(catalogue.system(name), Request(given=made.given))
    return replace(made, cluster=cluster)


def _require_accepted(made: Plan, catalogue: Catalogue) -> None:
    """Raise RequestError if an embedded system of the plan refuses an option of a phase: its trials would fail."""
    embedded = {
        name: issubclass(driver_class(catalogue.system(name).driver), EmbeddedDriver)
        for name in made.systems()
    }
    for levels in {trial.cell: trial.levels for trial in made.trials}.values():
        system = str(levels["system"])
        for phase in made.phases if embedded[system] else ():
            options = phase.replaced(levels).model_dump() if phase.done_at(levels) else {}
            if found := refused(phase.workload, options):
                name, why = found
                raise RequestError(
                    f'{made.experiment}: phase "{phase.name}": {name} = {options[name]}, but {system} {why}.',
                    f"Leave {name} out, or leave {system} out of the cells with it (a table `without`, or --set).",
                )
