"""The journal of a run: trials that began or ended, so that nobody can drop one, continue the run, and tell no one.

A trial that is gone or different when a run is continued runs again, and ``run.json`` names it under ``altered`` with
what the journal says of it. One that began and did not end is named under ``stopped``. Each line is sealed together
with all lines before it (``seal.py``), and the last seal is also in the user's state folder: a journal that is cut
short or removed does not fit it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal, TypedDict

from benchbook.errors import RequestError
from benchbook.host import guarded
from benchbook.host.filesystem import state_folder
from benchbook.record import folder, seal

FILE = "journal.jsonl"
HEADS = "journals"
"""Folder of the user's state that has the last seal of each run's journal."""

STATED = ("trial_id", "status", "place", "digest")
BEGUN = "begun"
"""Status of a trial in the line of its begin; that of its end has the status that it got."""
LONGEST_LINE_BYTES = 4096

Why = Literal["removed", "changed", "journal"]
"""``journal`` if the journal itself was removed, cut or edited: then nobody knows which trials."""


class Altered(TypedDict):
    """A finished trial that is no longer what it was; ``trial_id`` and ``status`` are empty for the journal."""

    trial_id: str
    status: str
    why: Why


class Stopped(TypedDict):
    """A trial that began and did not end, such as one whose harness was killed."""

    trial_id: str
    times: int


def begun(run: Path, place: Path, trial_id: str) -> None:
    """Add a trial that begins in ``place``: one that is stopped may have been stopped because of its values."""
    _append(run, {"trial_id": trial_id, "status": BEGUN, "place": place.name, "digest": ""})


def stopped(run: Path) -> list[Stopped]:
    """Return the trials that began and did not end, and how often; for a run that is not in progress."""
    times: Counter[str] = Counter()
    ended: set[str] = set()
    for line in reversed(_read(run)[0]):  # a begin belongs to the end that follows it
        name = line["trial_id"]
        if line["status"] != BEGUN:
            ended.add(name)
        elif name in ended:
            ended.remove(name)
        else:
            times[name] += 1
    return [{"trial_id": name, "times": times[name]} for name in sorted(times)]


def ended(run: Path, place: Path, trial_id: str, status: str) -> None:
    """Add a trial that was just written to ``place``. Without a key for seals there is no journal."""
    digest = _digest(place)
    if digest is not None:
        _append(run, {"trial_id": trial_id, "status": status, "place": place.name, "digest": digest})


def altered(run: Path, unreadable: Collection[str] = ()) -> list[Altered]:
    """Return the finished trials that are no longer as they ended; the files of ``unreadable`` ones changed."""
    lines, whole = _read(run)
    if not whole:
        return [{"trial_id": "", "status": "", "why": "journal"}]
    known = {line["place"] for line in lines}
    if known and any(path.parent.name not in known for path in run.glob(f"trials/*/{folder.TRIAL_FILE}")):
        # One that began again has only later trials.
        return [{"trial_id": "", "status": "", "why": "journal"}]
    last = {line["trial_id"]: line for line in lines if line["status"] != BEGUN}
    found: list[Altered] = []
    for line in last.values():
        now = _digest(run / "trials" / line["place"])
        if now != line["digest"] or line["trial_id"] in unreadable:
            why: Why = "removed" if now is None else "changed"
            found.append({"trial_id": line["trial_id"], "status": line["status"], "why": why})
    return found


def is_own(run: Path) -> bool:
    """Return whether this user's key sealed the first line of a journal."""
    return bool(_read(run)[0])


def begin_again(run: Path) -> None:
    """Replace a journal that does not fit by one of the trials that there are, after ``run.json`` says so."""
    _remove(run)
    for path in sorted(run.glob(f"trials/*/{folder.TRIAL_FILE}")):
        with contextlib.suppress(ValueError):
            status = str(folder.read_object(path).get("status"))
            ended(run, path.parent, f"{run.name}/{path.parent.name}", status)


def _remove(run: Path) -> None:
    (run / FILE).unlink(missing_ok=True)
    forget(run)


def forget(run: Path) -> None:
    """Remove what the user's state has of a run that is removed."""
    if (head := _head(run)) is not None:
        with contextlib.suppress(OSError):
            head.unlink()


def _append(run: Path, line: dict[str, Any]) -> None:
    """Add a sealed line and keep its seal: first the line, so that a killed harness is at most one seal behind."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(run / FILE, flags, 0o644), "rb+") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - LONGEST_LINE_BYTES))
        tail = file.read()
        half = len(tail) - (tail.rfind(b"\n") + 1)  # of a line that a killed harness began
        written = tail[: len(tail) - half].rstrip(b"\n").rpartition(b"\n")[2]
        try:
            before = str(json.loads(written)["seal"]) if written else ""
        except (ValueError, TypeError, KeyError):
            before = ""  # an edited journal, which does not fit whatever follows
        sealed = seal.of("journal", _content(run, before, line))
        if sealed is None:
            return
        file.truncate(end - half)
        file.seek(0, os.SEEK_END)
        stated = {key: line[key] for key in STATED}
        file.write(json.dumps({**stated, "seal": sealed}).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        _keep_head(run, sealed)
    except RequestError:
        # The state takes nothing more, and a journal without its last seal would accuse its own user.
        _remove(run)


def _read(run: Path) -> tuple[list[dict[str, Any]], bool]:
    """Return the lines of a journal that are sealed, and whether they are all that was written."""
    try:
        text = guarded.contents(run / FILE, guarded.RESULT_BYTES)
    except OSError:
        text = b""
    lines: list[dict[str, Any]] = []
    before = ""
    for part in text.split(b"\n")[:-1]:  # a killed harness may leave half a line
        try:
            line = json.loads(part)
            fits = seal.fits("journal", _content(run, before, line), line["seal"])
        except (ValueError, TypeError, KeyError, RecursionError):
            fits = False
        if not fits:
            return lines, False
        lines.append(line)
        before = line["seal"]
    head = _head(run)
    try:
        kept = "" if head is None else head.read_text(encoding="ascii")
    except (OSError, ValueError):
        kept = ""
    return lines, kept in ["", *(line["seal"] for line in lines)][-2:]


def _content(run: Path, before: str, line: dict[str, Any]) -> bytes:
    stated = {key: line[key] for key in STATED}
    return json.dumps([run.name, before, stated], sort_keys=True).encode()


def _digest(place: Path) -> str | None:
    try:
        return hashlib.sha256(guarded.contents(place / folder.TRIAL_FILE, guarded.RESULT_BYTES)).hexdigest()
    except OSError:
        return None


def _keep_head(run: Path, sealed: str) -> None:
    head = _head(run)
    if head is not None:
        folder.write_whole(head, sealed.encode())


def _head(run: Path) -> Path | None:
    state = state_folder(os.environ)
    return None if state is None else state / HEADS / run.name
