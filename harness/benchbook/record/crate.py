"""RO-Crate 1.1 metadata of an export: what the folder is, how it was made, and what each of its parts holds.

Written by hand: the same document through the package rocrate takes about as many lines and two more packages.
"""

# ruff: noqa: S608 - the page shows SQL, it runs none

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.record import folder
from benchbook.record.tables import BY_NAME

if TYPE_CHECKING:
    from benchbook.record.runs import Run

FILE = "ro-crate-metadata.json"
README = "README.md"
PARTS = {
    "run.json": ("The run: provenance, machine, programs, declarations", "application/json"),
    "plan.json": ("The plan: every trial in its order, made before anything ran", "application/json"),
    "environment.json": ("The environment: machine, controls, programs and versions", "application/json"),
    "values.json": (
        "The values of the trials that count, for the page of the experiment",
        "application/json",
    ),
    "report.html": ("The report: charts, conclusions and limits in one page", "text/html"),
    "report-data.html": (
        "The data page of the report: trials, telemetry, environment and rules",
        "text/html",
    ),
    "report-numbers.csv": ("Every mean of the run with its 95 % interval", "text/csv"),
    "report.pdf": ("The report as PDF", "application/pdf"),
    "manifest.json": ("The bytes and sha256 of every file", "application/json"),
    README: ("What is in this folder and how to open it", "text/markdown"),
}
FOLDERS = {
    "tables/": "Every table of the run as Parquet",
    "declared/": "The declarations of experiment, systems and dataset that the run used, TOML",
    "queries/": "The query sets, one JSON Lines file for each type",
    "trials/": "One folder for each trial: result, events, telemetry, answers, configuration and logs of the system",
}


def write(where: Path, run: Run, facts: dict[str, Any], rows: dict[str, int]) -> None:
    """Write the metadata and the README into an export that lacks only these and its manifest."""
    (where / README).write_text(_readme(where, run, facts), encoding="utf-8")
    folder.write_json(where / FILE, metadata(where, run, facts, rows))


def metadata(where: Path, run: Run, facts: dict[str, Any], rows: dict[str, int]) -> dict[str, Any]:
    """Return the metadata document: the root, the run as an action, the software, files and folders."""
    files = [name for name in PARTS if (where / name).is_file() or name in ("manifest.json", README)]
    folders = [name for name in FOLDERS if (where / name).is_dir()]
    tables = [f"tables/{name}.parquet" for name in rows]
    provenance = facts.get("provenance") or {}
    title = str(facts.get("title") or run.experiment)
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{title}: run {run.run_id}",
        "description": str(facts.get("question") or title),
        "identifier": run.run_id,
        "datePublished": str(facts.get("finished_at") or run.created_at)[:10],
        "license": {"@id": "https://spdx.org/licenses/Apache-2.0"},
        "keywords": "benchmark, reproducibility, databases, storage",
        "hasPart": [{"@id": name} for name in [*files, *folders, *tables]],
        "mentions": {"@id": "#run"},
    }
    systems = [
        {
            "@id": f"#system-{name}",
            "@type": "SoftwareApplication",
            "name": name,
            "softwareVersion": str((program or {}).get("version") or "unavailable"),
            "identifier": str((program or {}).get("digest") or ""),
        }
        for name, program in (facts.get("programs") or {}).items()
    ]
    action = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"benchbook run {run.experiment}, profile {run.profile}",
        "startTime": facts.get("started_at"),
        "endTime": facts.get("finished_at"),
        "instrument": [{"@id": "#benchbook"}, *({"@id": system["@id"]} for system in systems)],
        "result": {"@id": "./"},
    }
    software = {
        "@id": "#benchbook",
        "@type": "SoftwareApplication",
        "name": "Benchbook",
        "softwareVersion": str(provenance.get("benchbook_version") or "unknown"),
        "identifier": str(provenance.get("git_revision") or provenance.get("source_digest") or "unknown"),
    }
    license_ = {
        "@id": "https://spdx.org/licenses/Apache-2.0",
        "@type": "CreativeWork",
        "name": "Apache License 2.0",
    }
    descriptor = {
        "@id": FILE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }
    parts = [
        {"@id": name, "@type": "File", "name": PARTS[name][0], "encodingFormat": PARTS[name][1]}
        for name in files
    ]
    parts += [{"@id": name, "@type": "Dataset", "name": FOLDERS[name]} for name in folders]
    parts += [
        {
            "@id": f"tables/{name}.parquet",
            "@type": "File",
            "name": f"{BY_NAME[name].comment} ({count} rows)",
            "encodingFormat": "application/vnd.apache.parquet",
        }
        for name, count in rows.items()
    ]
    action = {key: value for key, value in action.items() if value is not None}
    graph = [descriptor, root, *parts, action, software, license_, *systems]
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}


def _readme(where: Path, run: Run, facts: dict[str, Any]) -> str:
    held = [(name, words[0]) for name, words in PARTS.items() if (where / name).exists() and name != README]
    held += [(name, words) for name, words in FOLDERS.items() if (where / name).is_dir()]
    lines = "\n".join(f"- `{name}`: {words}" for name, words in held)
    return f"""# {facts.get("title") or run.experiment}: run {run.run_id}

{facts.get("question") or ""}

{lines}
- `manifest.json`: the bytes and sha256 of every file
- `{FILE}`: this folder described as an RO-Crate 1.1

Anyone can read the tables without Benchbook, for example with DuckDB:

    SELECT system, block, value FROM 'tables/measurements.parquet' JOIN 'tables/trials.parquet' USING (trial_id)
    WHERE phase = 'load' AND metric = 'rows_per_second' AND status = 'ok' ORDER BY ALL

Benchbook opens this folder in place of a run: `bench claims ./`, `bench report ./`, `bench compare ./ OTHER`.
`bench import .` copies the run into a results folder.
"""
