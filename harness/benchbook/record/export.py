"""Export one run of a results folder, whole or small enough to be published; both have the same form.

An export holds the run's facts, plan and declarations, its tables as Parquet, its environment, RO-Crate metadata and
a digest of every file. A whole export also holds the query sets, the trials with their configuration and logs, and
the report. It appears as a finished folder or not at all.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchbook.errors import BenchbookError, RequestError, command
from benchbook.host import guarded, temporary
from benchbook.record import (
    contributed,
    crate,
    database,
    evidence,
    folder,
    journal,
    ledger,
    manifest,
    runs,
    seal,
    thinning,
    values,
)
from benchbook.record import trial as trial_json
from benchbook.record.folder import Say, tell
from benchbook.record.private import Scrubber, scrubber
from benchbook.record.runs import Run

SMALL_PARTS = (folder.RUN_FILE, folder.PLAN_FILE, "declared")
PARTS = (*SMALL_PARTS, "queries", folder.TRIALS_FOLDER)
"""The parts of a run folder that an import needs; the rest of an export is made from them."""
ENVIRONMENT = "environment.json"
PROVENANCE = ("benchbook_version", "git_revision", "git_dirty", "source_digest", "lock_digest")

SCRUBBED = "names of user and host, and private paths"
THINNED = (
    "configuration files and logs of the systems",
    "samples of telemetry that no chart draws",
    "single operations",
)

Render = Callable[[Path, str], Path]
"""Renders the report of a run: results folder and run_id to the path of the file."""
Fill = Callable[[Path, Path], dict[str, Any]]
"""Writes tables (and the report) from a results folder with this run alone; returns what the manifest says of them."""


def export_run(
    results: Path,
    run_id: str,
    output: Path,
    *,
    overwrite: bool = False,
    private: bool = False,
    render: Render | None = None,
    say: Say = tell,
) -> Path:
    """Write the whole run to the folder ``output`` and return it.

    Removes names of user and host and private paths, unless ``private``. ``render`` makes the report from what is
    exported; without it the export has no report.
    Raises RequestError if there is no such run, if ``output`` cannot be written, or if it holds files and
    ``overwrite`` is not set or the files are not an export.
    """
    found = runs.find(results, run_id, say)
    output = output.absolute()  # "." has no name, and the new files are written beside the folder
    _require_writable(output, overwrite)

    def fill(stage: Path, made: Path) -> dict[str, Any]:
        rows = thinning.whole(stage, found.run_id, made / folder.TABLES_FOLDER)
        values.write(stage, found, made)
        if render:
            _report(render, stage, found.run_id, made, say)
        return {"rows": rows}

    about = {"published": False, "scrubbed": not private, "left_out": [] if private else [SCRUBBED]}
    return _write(found, output, fill, PARTS, about, None if private else scrubber(), say)


def publish_run(
    results: Path, run_id: str, data: Path, drawn: thinning.Drawn, say: Say = tell, machine: str | None = None
) -> Path:
    """Write the small form of a run to ``data/<experiment>/<run>``, beside the earlier ones; return the folder.

    ``machine`` is the name of the machine of a contributed run. The same run gives the same bytes. ``drawn`` is the
    telemetry that charts draw. Raises RequestError if the run does not exist or is not finished, if it is published
    already, if it stays larger than 2 MB, or if ``machine`` is not a valid name.
    """
    name = None if machine is None else contributed.require_name(machine)
    found = runs.find(results, run_id, say)
    if not found.whole or found.finished_at is None:
        raise RequestError(
            f"Run {found.run_id} is not finished: {found.done} of {found.planned} trials exist.",
            f"Finish it with `{command(f'resume {found.run_id}')}`, then publish it.",
        )
    if name is None and not seal.is_own(found.path):
        name = _machine_of(found)
    output = data / found.experiment / found.run_id
    ledger.require_new(output)
    if seal.is_own(found.path):
        _require_unaltered(found)
        _require_earlier(results, found, output.parent)

    def fill(stage: Path, made: Path) -> dict[str, Any]:
        return thinning.fitting(stage, found.run_id, made / folder.TABLES_FOLDER, drawn)

    about = {"published": True, "scrubbed": True, "left_out": [SCRUBBED, *THINNED]}
    about |= {} if name is None else {"machine": name}
    return _write(found, output, fill, SMALL_PARTS, about, scrubber(), say)


SMOKE = "smoke"
"""Profile whose runs test that everything works; they are no evidence."""


def _require_unaltered(found: Run) -> None:
    """Raise RequestError if trials of a run were removed or changed since they ended."""
    if altered := journal.altered(found.path):
        named = ", ".join(one["trial_id"] or journal.FILE for one in altered[:3])
        raise RequestError(
            f"Files of {found.run_id} were removed or changed since its trials ended: {named}"
            f"{', …' if len(altered) > 3 else ''}.",
            f"`{command(f'resume {found.run_id}')}` runs these trials again, and {folder.RUN_FILE} then names them.",
        )


def _require_earlier(results: Path, found: Run, where: Path) -> None:
    """Raise RequestError if an earlier complete run of the experiment is neither published nor left out with a reason.

    Otherwise, whoever publishes could run until a verdict pleases, and show that run alone. The profile is no way out,
    because anybody can copy one under another name.
    """
    known = {path.name for path in ledger.folders(where)} | set(ledger.left_out(where))
    machine = runs.machine_of(found)
    open_ = [
        one.run_id
        for one in runs.all_runs(results, lambda _: None)
        if (one.experiment, one.against_itself) == (found.experiment, found.against_itself)
        and (one.profile != SMOKE or found.profile == SMOKE)
        and one.whole and one.finished_at is not None and runs.is_made_here(one, machine)
        and _is_before(one, found) and one.run_id not in known
    ]  # fmt: skip
    if open_:
        number = "1 earlier run" if len(open_) == 1 else f"{len(open_)} earlier runs"
        raise RequestError(
            f"{number} of {found.experiment} in {results} "
            f"{'is' if len(open_) == 1 else 'are'} not published: {', '.join(open_[:3])}"
            f"{', …' if len(open_) > 3 else ''}. Every complete run is published, whatever it says.",
            f"Publish it first: {command(f'export {open_[0]} --publish')}. If it must not count, say why in "
            f"{where / ledger.LEFT_OUT}, which the page of the experiment shows (docs/publishing.md).",
        )


def _is_before(one: Run, found: Run) -> bool:
    """Return whether a complete run ended before another one: then its values were known before those."""
    return (one.finished_at or "", one.run_id) < (found.finished_at or "", found.run_id)


def _machine_of(found: Run) -> str:
    """Return the machine that an imported run states; raise RequestError if it states none."""
    stated = manifest.read(found.path).machine if (found.path / manifest.FILE).exists() else None
    if stated is None:
        raise RequestError(
            f"Run {found.run_id} was not begun by you with this results folder, so it is not published as a run of the"
            " project.",
            "Publish it as one that was contributed, with a name of the machine on which it was made: --machine NAME.",
        )
    return stated


def _write(
    found: Run,
    output: Path,
    fill: Fill,
    parts: Sequence[str],
    about: dict[str, Any],
    private: Scrubber | None,
    say: Say,
) -> Path:
    _sweep(output.parent)
    beside = output.with_name(f".{output.name}.{os.getpid()}.part")
    stage, made = beside / "results", beside / "export"
    try:
        shutil.rmtree(beside, ignore_errors=True)
        copied = stage / "runs" / found.run_id
        whole = _copy(found.path, copied, private, say)
        database.enter(stage, copied, say)
        _require_all(whole, stage, found)
        (made / folder.TABLES_FOLDER).mkdir(parents=True)
        kept = fill(stage, made)
        for name in parts:
            if (copied / name).exists():
                (copied / name).rename(made / name)
        facts = folder.read_object(made / folder.RUN_FILE) if (made / folder.RUN_FILE).exists() else {}
        environment = {key: facts.get(key) for key in ("host", "controls", "provenance", "programs")}
        folder.write_json(made / ENVIRONMENT, environment)
        crate.write(made, found, facts, kept["rows"])
        named = {
            "run_id": found.run_id,
            "experiment": found.experiment,
            "profile": found.profile,
            "against_itself": found.against_itself,
            "provenance": {name: (facts.get("provenance") or {}).get(name) for name in PROVENANCE},
        }
        manifest.write(made, {**named, **about, **kept})
        _move_into_place(made, output)
    except OSError as error:
        raise folder.cannot_write(output, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return output


_UNFINISHED = re.compile(r"\..+\.([1-9]\d*)\.part")


def _sweep(parent: Path) -> None:
    """Remove the unfinished exports that killed processes of this user left in a folder."""
    with contextlib.suppress(OSError):
        for path in list(parent.iterdir()):
            named = _UNFINISHED.fullmatch(path.name)
            if named is None or Path("/proc", named[1]).exists():
                continue
            found = path.lstat()
            ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
            if ours and {one.name for one in path.iterdir()} <= {"results", "export"}:
                shutil.rmtree(path, ignore_errors=True)


def _copy(source: Path, target: Path, private: Scrubber | None, say: Say) -> set[str]:
    """Copy what an import needs of a run folder, scrubbed if ``private``; return the ids of trials that are whole."""
    target.mkdir(parents=True)
    parts = (*PARTS, folder.TABLES_FOLDER) if folder.from_tables(source) else PARTS
    linked = [one for one in (source, *(source / name for name in parts)) if guarded.is_link(one)]
    if linked and not temporary.holds(source):  # an opened run has links of ours
        raise RequestError(
            f"{linked[0]} is a link: an export holds only what is in the run's folder.",
            "Put the files themselves there, or remove the link.",
        )
    odd = []
    for part in parts:
        below = (source / part).is_dir()
        for found in sorted(guarded.files_below(source / part)) if below else [str(source / part)]:
            path = Path(found)
            if not manifest.is_below(path.relative_to(source).as_posix()):
                odd.append(path.relative_to(source).as_posix())
                continue
            if path.is_symlink() or not path.is_file() or _is_unfinished(path, source):
                continue
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            if private:
                (Scrubber() if part == "declared" else private).file(path, place)
            else:
                shutil.copyfile(path, place)
    if odd:
        say(f"Left out: {manifest.some(odd)}: an export holds no file with such a name.")
    trials = folder.trial_folders(source)
    return {whole for trial in trials if (whole := _restate(trial, source, target, private))}


def _restate(trial: Path, source: Path, target: Path, private: Scrubber | None) -> str | None:
    """State the digests of a trial's scrubbed files, and return its id if it is whole.

    The digests of a damaged one stay, so that it is found.
    """
    try:
        stated = trial_json.read(trial, whole=True)
    except ValueError:
        return None
    copied = target / trial.relative_to(source)
    if private and stated.get("files") is not None:
        record = folder.read_object(copied / folder.TRIAL_FILE)
        folder.write_json(copied / folder.TRIAL_FILE, {**record, "files": evidence.state(copied)})
    return stated["trial_id"]


def _require_all(whole: set[str], stage: Path, found: Run) -> None:
    """Raise RequestError if trials of the run's database, whose files are whole, are not in that of the export."""
    if lost := sorted(whole & database.trial_ids(found.path.parent.parent) - database.trial_ids(stage)):
        raise RequestError(
            f"The export would lack {len(lost)} of {found.done} trials, such as {lost[0]}: their copies without private"
            " names are invalid. Nothing was written.",
            f"Export the run with its names: {command(f'export {found.run_id} --private')}",
        )


def _is_unfinished(path: Path, run: Path) -> bool:
    """Return whether a file belongs to a trial without a result, or is what a killed client left."""
    parts = path.relative_to(run).parts
    if parts[0] != folder.TRIALS_FOLDER:
        return False
    return path.suffix == ".part" or not (run.joinpath(*parts[:2]) / folder.TRIAL_FILE).is_file()


def _report(render: Render, stage: Path, run_id: str, made: Path, say: Say) -> None:
    try:
        report = render(stage, run_id)
    except BenchbookError as error:
        say(f"The export has no report: {error}")
        return
    # Beside a page are its data page and its numbers.
    for path in (report, *sorted(report.parent.glob(f"{report.stem}-*"))):
        shutil.copyfile(path, made / path.name)


def _require_writable(output: Path, overwrite: bool) -> None:
    folder.require_folder(output, "--output")
    if not output.exists() or not any(output.iterdir()):
        return
    if not overwrite:
        raise RequestError(f"{output} already contains files.", "Name another folder, or add --overwrite.")
    if not (output / manifest.FILE).is_file():
        raise RequestError(
            f"{output} is not empty and has no {manifest.FILE}, so it is no earlier export and is not overwritten.",
            "Name another folder.",
        )
    if more := _others(output):
        raise RequestError(
            f"{output} holds files that are not of an earlier export: {manifest.some(more)}. Nothing was changed.",
            "Move them to another folder, or name another one with --output DIR.",
        )


def _others(output: Path) -> list[str]:
    """Return the files in an export's folder that its manifest does not name.

    Only what Benchbook wrote may be replaced, and the manifest lists that. Raises RequestError if it is no export.
    """
    listed = {entry.file for entry in manifest.read(output).files}
    return sorted(name for name in manifest.held(output) if name not in listed)


def _move_into_place(made: Path, output: Path) -> None:
    """Move the finished folder into place, and an earlier export out of it."""
    earlier = output.with_name(f".{output.name}.{os.getpid()}.earlier")
    if output.exists():
        output.rename(earlier)
    try:
        made.rename(output)
    except OSError:
        with contextlib.suppress(OSError):
            earlier.rename(output)
        raise
    shutil.rmtree(earlier, ignore_errors=True)
