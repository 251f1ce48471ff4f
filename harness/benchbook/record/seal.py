"""Seal plans and commands that this user stored on this machine, because only those are ever carried out.

A plan names programs and servers, and whoever continues a run starts them. A plan in a folder from elsewhere (imported,
copied, shared) must therefore not be continued, whatever the folder says about itself. Each stored plan gets a seal
beside it: a keyed digest, whose key is in a private file of the user, outside every results folder. An export never
holds the seal. Nobody else can make one, and an edited plan has none. The command that ``rerun`` executes is in
``run.json`` and has a seal of its own: a copied plan keeps its seal beside another ``run.json``.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import stat
from pathlib import Path
from typing import Any

from benchbook.errors import RequestError, command
from benchbook.host import guarded
from benchbook.host.filesystem import state_folder
from benchbook.record import folder

FILE = "seal.json"
"""In a run's folder, beside its plan."""
KEY_FILE = "seal-key"
KEY_BYTES = 32
MACHINE_FILE = Path("/etc/machine-id")
"""The key may lie in a home folder that several machines share; the seal also covers the machine."""


def of(kind: str, content: bytes) -> str | None:
    """Return the seal of a plan, and make the key if there is none; None if it cannot be stored."""
    key = _key() or _new_key()
    return None if key is None else _digest(key, kind, content)


def fits(kind: str, content: bytes, seal: object) -> bool:
    """Return whether this user made a seal on this machine for exactly this content."""
    key = _key()
    return key is not None and isinstance(seal, str) and hmac.compare_digest(
        _digest(key, kind, content).encode(), seal.encode("utf-8", "replace")
    )  # fmt: skip


def seal_plan(run: Path, plan: bytes) -> bool:
    """Seal a plan that is about to be stored; return False if the key cannot be stored."""
    found = of("plan", plan)
    if found is not None:
        folder.write_json(run / FILE, {"plan": found})
    return found is not None


def seal_command(run: Path, facts: dict[str, Any]) -> None:
    """Seal what ``rerun`` executes of a ``run.json`` that is about to be stored; do nothing without a key."""
    found = of("command", _command(facts))
    if found is not None:
        folder.write_json(run / FILE, {**_seals(run), "command": found})


def is_own_command(run: Path, facts: dict[str, Any]) -> bool:
    """Return whether this user began a run on this machine with exactly the command of this ``run.json``."""
    return fits("command", _command(facts), _seals(run).get("command"))


def _command(facts: dict[str, Any]) -> bytes:
    provenance = facts.get("provenance")
    stated = provenance if isinstance(provenance, dict) else {}
    executed = {key: facts.get(key) for key in ("run_id", "experiment", "profile", "order_seed", "argv")}
    return json.dumps(
        {**executed, **{key: stated.get(key) for key in ("git_revision", "git_dirty")}}, sort_keys=True
    ).encode()


def _seals(run: Path) -> dict[str, Any]:
    """Return the seals of a run; none if its file is absent or damaged."""
    try:
        return folder.read_object(run / FILE)
    except (OSError, ValueError):
        return {}


def require_plan(run: Path, plan: bytes) -> None:
    """Raise RequestError unless this user stored exactly this plan on this machine."""
    if not fits("plan", plan, _seals(run).get("plan")):
        raise RequestError(
            f"The run {run.name} is not continued, because a plan can start any program: this user did not begin it on"
            f" this machine, or its {folder.PLAN_FILE} has changed since.",
            f"Start it again: `{command('rerun --print')} RUN` shows its command, `{command('run')} EXPERIMENT` begins"
            " a new run.",
        )


def is_own(run: Path) -> bool:
    """Return whether this user stored the plan of a run on this machine."""
    try:
        require_plan(run, guarded.contents(run / folder.PLAN_FILE, guarded.RESULT_BYTES))
    except (OSError, RequestError):
        return False
    return True


def _digest(key: bytes, kind: str, content: bytes) -> str:
    try:
        machine = MACHINE_FILE.read_bytes().strip()
    except OSError:
        machine = b""
    return hmac.new(key, b"\0".join((kind.encode(), machine, content)), hashlib.sha256).hexdigest()


def _key() -> bytes | None:
    """Return this user's key; None if there is none, or if others could have read or written it."""
    path = _key_path()
    if path is None:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            facts = os.fstat(descriptor)
            private = (
                stat.S_ISREG(facts.st_mode) and not facts.st_mode & 0o077 and facts.st_uid == os.geteuid()
            )
            key = file.read(KEY_BYTES + 1) if private else b""
    except OSError:
        return None
    return key if len(key) == KEY_BYTES else None


def _new_key() -> bytes | None:
    """Make this user's key, unless another process is faster, and return the one that counts; None if impossible."""
    path = _key_path()
    if path is None:
        return None
    beside = path.with_name(f".{KEY_FILE}.{os.urandom(8).hex()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(beside, path)
        return _key()
    except OSError:
        return None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def _key_path() -> Path | None:
    state = state_folder(os.environ)
    return None if state is None else state / KEY_FILE
