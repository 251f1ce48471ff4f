"""Describe a run in ``run.json`` when it begins, and check that a resumed run is still the same."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchbook.declare import plugin, project, published
from benchbook.declare.checkout import built_in
from benchbook.errors import RequestError, Unavailable, command
from benchbook.host.facts import machine
from benchbook.host.provenance import provenance, sha256_of
from benchbook.host.reading import Tree
from benchbook.plan.factors import FROM
from benchbook.plan.plan import Plan, trial_dataset
from benchbook.process.launch import Program
from benchbook.record.folder import RUN_FILE, read_object, write_whole
from benchbook.record.runs import all_runs, is_made_here, machine_of
from benchbook.run import benchload
from benchbook.run.ceiling import ceiling
from benchbook.run.context import Context, combined, program_record

SCHEMA = 1


def describe(context: Context, argv: list[str]) -> dict[str, Any]:
    """Return the content of ``run.json`` at the start of a run: host, provenance, programs, the client's ceiling."""
    from benchbook.host.controls import checks
    from benchbook.host.facts import facts

    plan = context.plan
    experiment = context.catalogue.experiment(plan.experiment)
    first = trial_dataset(plan, plan.trials[0].levels)
    return {
        "schema": SCHEMA,
        "run_id": plan.run_id,
        "experiment": plan.experiment,
        "title": plan.title,
        "question": experiment.question,
        "profile": plan.profile,
        "order_seed": plan.order_seed,
        "sequential": plan.sequential,
        "gate": plan.gate,
        "earlier_runs": earlier_runs(context.results, plan),
        "created_at": plan.created_at,
        "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "finished_at": None,
        "argv": argv,
        "provenance": {
            **provenance(built_in()),
            "benchload": benchload.identity(context.benchload),
            "python": sys.version.split()[0],
            "experiment_digest": sha256_of(context.catalogue.path("experiment", plan.experiment)),
            "dataset_digest": combined([str(digest["sha256"]) for digest in context.digests.values()]),
            "queries_digest": context.queries_digest(),
            "project": project.identity(),
            "plugins": plugin.digests(plan.experiment),
        },
        **(
            context.cluster.describe()
            if context.cluster
            else {
                "host": {**facts(context.results), **_disk(context)},
                "controls": [vars(control) for control in checks(context.results)],
            }
        ),
        "dataset": context.digests[first.flags()],
        "programs": {name: program_record(program) for name, program in context.programs.items()},
        "calibration": ceiling(context, first),
        "declared": _declared(context),
    }


def _disk(context: Context) -> dict[str, Any]:
    """Return the speed of the disk; nothing for profile ``smoke``, whose trials take less time than that."""
    from benchbook.host.disk_speed import disk_speed

    return {} if context.plan.profile == "smoke" else {"disk_speed": disk_speed(context.results)}


def earlier_runs(results: Path, plan: Plan) -> list[dict[str, Any]]:
    """Return the earlier runs of the experiment in these results: repeating a run until it pleases becomes visible.

    They are those that this user began, and all others of this machine: a run without its seal is still an earlier one.
    """
    found = []
    here = machine(Tree())["id"]
    for run in all_runs(results, lambda _: None):
        if is_made_here(run, here) and run.experiment == plan.experiment and run.run_id != plan.run_id:
            held = read_object(run.path / RUN_FILE) if (run.path / RUN_FILE).exists() else {}
            found.append(
                {
                    "run_id": run.run_id,
                    "profile": run.profile,
                    "revision": (held.get("provenance") or {}).get("git_revision"),
                    "machine": machine_of(run),
                    "against_itself": run.against_itself,
                    "finished": run.whole and run.finished_at is not None,
                    "trials": run.done,
                }
            )
    return found


def keep_declarations(context: Context) -> None:
    """Copy the run's TOML declarations and the published numbers of its claims into its folder."""
    catalogue, plan = context.catalogue, context.plan
    wanted = [("experiment", plan.experiment), ("dataset", plan.dataset.name)]
    systems = dict.fromkeys(name.partition(FROM)[0] for name in context.programs)
    wanted += [("system", name) for name in systems]
    wanted += [("storage", str(name)) for name in {trial.levels["storage"] for trial in plan.trials}]
    for kind, name in wanted:
        path = catalogue.path(kind, name)
        shown = f"{kind}-{name}.toml" if kind != "experiment" else "experiment.toml"
        write_whole(context.folder / "declared" / shown, path.read_bytes())
    for name in published.files(catalogue.experiment(plan.experiment).claims):
        source = catalogue.published(plan.experiment) / name
        write_whole(context.folder / "declared" / "published" / name, source.read_bytes())


def _declared(context: Context) -> dict[str, Any]:
    systems = {
        name: context.system(name).model_dump(mode="json", exclude={"source"})
        for name in context.plan.systems()
    }
    experiment = context.catalogue.experiment(context.plan.experiment).model_dump(mode="json")
    numbers = {
        name: published.read(context.catalogue.published(context.plan.experiment), name)
        for name in published.files(context.catalogue.experiment(context.plan.experiment).claims)
    }
    return {"systems": systems, "experiment": experiment, "published": numbers}


def check_same(context: Context, before: dict[str, Any]) -> None:
    """Refuse to resume a run with another Benchbook, other programs or other data than it began with."""
    now = {
        "benchload": benchload.identity(context.benchload)["digest"],
        "dataset": combined([str(digest["sha256"]) for digest in context.digests.values()]),
        "queries": context.queries_digest(),
    }
    recorded = before["provenance"]
    then = {
        "benchload": recorded["benchload"]["digest"],
        "dataset": recorded["dataset_digest"],
        "queries": recorded["queries_digest"],
    }
    here = provenance(built_in())
    for name in ("source_digest", "lock_digest"):
        now[name], then[name] = here[name], recorded.get(name)
    if "plugins" in recorded:
        of_plugins, recorded_plugins = plugin.digests(context.plan.experiment), recorded["plugins"]
        for file in sorted({*of_plugins, *recorded_plugins}):
            now[file], then[file] = of_plugins.get(file), recorded_plugins.get(file)
    for name, program in context.programs.items():
        earlier = before["programs"].get(name, {})
        if isinstance(program, Unavailable) and "digest" in earlier and not context.plan.cluster:
            raise RequestError(
                f"The run {context.plan.run_id} cannot continue: {name} was available at its start, and is not now: "
                f"{program}",
                f"Make it available, then continue with: {command(f'resume {context.plan.run_id}')}",
            )
        if isinstance(program, Program) and "unavailable" not in earlier:
            now[name], then[name] = program.digest, earlier.get("digest")
    for name, value in now.items():
        if then[name] != value:
            raise RequestError(
                f"The run {context.plan.run_id} cannot continue: the digest of {name} was {then[name]} at its start,"
                f" and is {value} now.",
                "Check out the revision with which the run began, or start a new run.",
            )
