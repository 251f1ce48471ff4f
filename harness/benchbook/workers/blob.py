"""Put, get and delete objects from Python: ``benchload blob`` for an embedded store.

Every operation in flight is a thread with a separate connection and its own share of the objects, so every answer is
known in advance. Objects that are read are compared by digest, outside the time of the operation. benchload's
generator writes the objects as frames, starting from any number.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import math
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from benchbook.process.spawn import die_with_parent
from benchbook.workers.engine import Engine, FailedError, StreamBrokenError
from benchbook.workers.recorder import Emit, Operations, Recorder, event, total


@dataclass(frozen=True)
class Item:
    """One object."""

    number: int
    key: str
    content: bytes


class Objects(Protocol):
    """A separate connection to an object store for one thread. Every call may raise the engine's own errors."""

    def put(self, items: Sequence[Item]) -> None:
        """Put objects in one transaction, which is committed when this returns."""
        ...

    def get(self, key: str) -> bytes | None:
        """Return the bytes of an object; None if it does not exist."""
        ...

    def delete(self, key: str) -> bool:
        """Delete an object; return whether it existed."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Source:
    """The objects of a range of numbers, generated in order on demand; for one thread."""

    def __init__(self, command: Sequence[str], first: int, end: int) -> None:
        """Start ``command``, benchload's generator with the dataset's flags; ``end`` is exclusive."""
        self._number, self._end = first, end
        self._process: subprocess.Popen[bytes] | None = None
        if first < end:
            asked = [*command, f"--count={end}", f"--first={first}", "--workers=1"]
            self._process = subprocess.Popen(
                asked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                bufsize=1 << 20, preexec_fn=die_with_parent(),  # noqa: PLW1509 - calls nothing but prctl
            )  # fmt: skip

    def __iter__(self) -> Iterator[Item]:
        """Return the iterator itself."""
        return self

    def __next__(self) -> Item:
        """Return the next object; raise StreamBrokenError if the generator has failed."""
        if self._number >= self._end:
            raise StopIteration
        assert self._process is not None
        assert self._process.stdout is not None
        key, _, size = self._process.stdout.readline().decode().partition(" ")
        content = self._process.stdout.read(int(size or 0) + 1)
        if not key or len(content) != int(size) + 1:
            raise StreamBrokenError(f"benchload generate blob ended before object {self._number}")
        self._number += 1
        return Item(self._number - 1, key, content[:-1])

    def close(self) -> None:
        """Stop the generator."""
        if self._process is not None:
            assert self._process.stdout is not None
            with contextlib.suppress(OSError):
                self._process.send_signal(signal.SIGKILL)
            self._process.stdout.close()
            self._process.wait()


def read_kept(file: Path) -> list[int]:
    """Return the sorted numbers of the objects that a store must have; none if the file does not exist."""
    if not file.exists():
        return []
    return sorted(int(line.partition("\t")[0]) for line in file.read_text().splitlines())


def write_kept(file: Path, numbers: Sequence[int]) -> None:
    """Write the numbers of the objects that a store must have, in benchload's format."""
    new = file.with_name(f"{file.name}.new")
    new.write_text("".join(f"{number}\t\n" for number in sorted(numbers)))
    new.replace(file)


KINDS = ("put", "get", "delete")
MOST_OBJECTS = 1 << 40
"""More than any store takes in the time of a phase."""
Connect = Callable[[float], Objects]
"""Opens a connection whose operations wait at most that many seconds for another connection."""
Argument = TypeVar("Argument")
Answer = TypeVar("Answer")


@dataclass
class Blob:
    """A request for operations on objects."""

    command: list[str]
    """benchload's generator with the flags of the dataset, except the number of objects."""
    seed: int
    count: int
    do: str
    kept: Path
    workers: int
    batch: int
    operations: int
    mix: dict[str, float]
    timeout_seconds: float
    lasts_seconds: float | None = None
    """For how long operations begin; None for a number of them."""

    def parts(self) -> dict[str, float]:
        """Return the operations of the mix with a positive share."""
        return {kind: part for kind, part in self.mix.items() if part > 0}


@dataclass
class Shared:
    """The state that all workers share; hold the lock to use it."""

    source: Source
    digests: dict[int, bytes]
    """Number of an object → SHA-256 of its bytes."""
    keys: dict[int, str]
    recorders: dict[str, Recorder]
    left: float
    """Operations that are still to be done; infinite for those that end by time."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    failure: StreamBrokenError | None = None
    """Why the generator gave no more objects."""

    def is_over(self) -> bool:
        """Return whether no operation begins any more."""
        return (
            self.failure is not None
            or self.left <= 0
            or any(recorder.over() for recorder in self.recorders.values())
        )


def serve(
    engine: Engine, asked: Mapping[str, Any], program: str, emit: Emit, record: Operations | None = None
) -> None:
    """Do the operations that a client asks for on the objects of an engine."""
    objects = getattr(engine, "objects", None)
    if objects is None:
        raise ValueError(f"{program} does not store objects; use SQLite")
    perform(objects, request(asked), program, emit, record)


def request(asked: Mapping[str, Any]) -> Blob:
    """Return the request in the flags of ``benchload blob``."""
    dataset = dict(flag.removeprefix("--").split("=", 1) for flag in asked["dataset"])
    mix = dict(part.split("=") for part in asked["mix"].split(",")) if asked.get("mix") else {asked["do"]: 1}
    return Blob(
        command=[asked["benchload"], "generate", "blob", *(
            f"--{name}={value}" for name, value in dataset.items() if name != "count"
        )],
        seed=int(dataset["seed"]), count=int(dataset["count"]), do=asked["do"], kept=Path(asked["kept"]),
        workers=int(asked["workers"]), batch=int(asked.get("batch") or 1), operations=int(asked.get("operations") or 0),
        mix={kind: float(part) for kind, part in mix.items()}, timeout_seconds=float(asked["timeout"]),
        lasts_seconds=asked.get("duration"),
    )  # fmt: skip


def perform(
    connect: Connect, asked: Blob, program: str, emit: Emit, record: Operations | None = None
) -> None:
    """Do the operations, or read everything back; raise FailedError after the summary if any failed."""
    kept = read_kept(asked.kept)
    workload = f"blob-{asked.do}"
    emit(
        event(
            "start", workload=workload, time_unix_ns=time.time_ns(), target=program.partition(" ")[0],
            workers=asked.workers, batch_rows=asked.batch, rows=asked.count, loop="closed", program=program,
        )
    )  # fmt: skip
    if asked.do == "check":
        _check(connect(asked.timeout_seconds), asked, kept, emit)
        return
    # Until the work is done, the content of the store is unknown, and the file of an earlier phase would be wrong.
    asked.kept.unlink(missing_ok=True)
    summary, now = _run(connect, asked, kept, emit, record)
    write_kept(asked.kept, now)
    emit(event("summary", **{**summary, "workload": workload}))
    if summary["errors"]:
        raise FailedError(f"{summary['errors']} operations on objects failed")


def _run(
    connect: Connect, asked: Blob, kept: list[int], emit: Emit, record: Operations | None
) -> tuple[dict[str, Any], list[int]]:
    parts = asked.parts()
    first = kept[-1] + 1 if kept else 0
    only_puts = list(parts) == ["put"]
    whole = -(-asked.count // asked.batch) if only_puts else len(kept)
    operations = math.inf if asked.lasts_seconds else asked.operations or max(whole, 1)
    end = MOST_OBJECTS if asked.lasts_seconds else first + int(operations) * asked.batch
    if only_puts and not asked.operations and not asked.lasts_seconds:
        end = first + asked.count
    known = Source(asked.command, kept[0], kept[-1] + 1) if kept and not only_puts else Source([], 0, 0)
    wanted = set(kept)
    digests, keys = {}, {}
    for item in known:
        if item.number in wanted:
            digests[item.number], keys[item.number] = hashlib.sha256(item.content).digest(), item.key
    known.close()
    connections = [connect(asked.timeout_seconds) for _ in range(asked.workers)]
    source = Source(asked.command, first, end if "put" in parts else first)
    recorders = {
        kind: Recorder(emit, kind, record, asked.lasts_seconds)
        for kind in KINDS
        if kind in parts or (kind == "put" and len(parts) > 1)
    }
    shared = Shared(source, digests, keys, recorders, operations)
    shares = [kept[place :: asked.workers] for place in range(asked.workers)]
    threads = [
        threading.Thread(target=_work, args=(asked, place, connection, shares[place], shared))
        for place, connection in enumerate(connections)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    summary = total([recorder.stop() for recorder in recorders.values()])
    source.close()
    for connection in connections:
        connection.close()
    if shared.failure is not None:
        raise shared.failure
    return summary, [number for share in shares for number in share]


def _work(asked: Blob, place: int, store: Objects, live: list[int], shared: Shared) -> None:
    """Do operations on the objects of one worker until none remain."""
    parts = asked.parts()
    draw = random.Random(asked.seed * 4097 + place)
    while True:
        kind = draw.choices(list(parts), list(parts.values()))[0]
        if kind != "put" and not live:
            if "put" not in parts:
                return
            kind = "put"  # all objects are deleted, so one must be put first
        with shared.lock:
            if shared.is_over():
                return
            shared.left -= 1
            try:
                items = list(itertools.islice(shared.source, asked.batch)) if kind == "put" else []
            except StreamBrokenError as error:
                shared.failure = error  # it ends the other workers too
                return
        if kind == "put":
            _put(store, items, live, shared, place)
            continue
        at = draw.randrange(len(live))
        if kind == "get":
            _get(store, live[at], shared, place)
        else:
            live[at], live[-1] = live[-1], live[at]
            _delete(store, live.pop(), shared, place)


def _put(store: Objects, items: list[Item], live: list[int], shared: Shared, worker: int) -> None:
    if not items:
        return
    done = _answered(shared, "put", store.put, items, worker, len(items))
    if done is None:
        return
    _, began_ns, ended_ns = done
    sums = {item.number: hashlib.sha256(item.content).digest() for item in items}
    with shared.lock:
        shared.digests |= sums
        shared.keys |= {item.number: item.key for item in items}
        size = sum(len(item.content) for item in items)
        shared.recorders["put"].done(began_ns, ended_ns, rows=len(items), size=size, worker=worker)
    live.extend(sums)


def _get(store: Objects, number: int, shared: Shared, worker: int) -> None:
    done = _answered(shared, "get", store.get, shared.keys[number], worker)
    if done is None:
        return
    content, began_ns, ended_ns = done
    if content is None or hashlib.sha256(content).digest() != shared.digests[number]:
        _failed(shared, "get", "an object differs from what was put", (began_ns, worker), how="answer")
        return
    with shared.lock:
        shared.recorders["get"].done(began_ns, ended_ns, rows=1, size=len(content), worker=worker)


def _delete(store: Objects, number: int, shared: Shared, worker: int) -> None:
    done = _answered(shared, "delete", store.delete, shared.keys[number], worker)
    if done is None:
        return
    was_there, began_ns, ended_ns = done
    if not was_there:
        _failed(shared, "delete", "the store has no such object", (began_ns, worker), how="answer")
        return
    with shared.lock:
        shared.recorders["delete"].done(began_ns, ended_ns, rows=1, worker=worker)


def _answered(
    shared: Shared,
    kind: str,
    do: Callable[[Argument], Answer],
    argument: Argument,
    worker: int,
    objects: int = 1,
) -> tuple[Answer, int, int] | None:
    """Do one operation; return its answer, start and end; count a failure and return None."""
    began_ns = time.perf_counter_ns()
    try:
        answer = do(argument)
    except Exception as failure:  # count any error of an engine, with its message
        _failed(shared, kind, str(failure), (began_ns, worker), objects)
        return None
    return answer, began_ns, time.perf_counter_ns()


def _failed(
    shared: Shared, kind: str, message: str, begun: tuple[int, int], objects: int = 1, how: str = "refused"
) -> None:
    """Record a failure; ``begun`` holds the start of the operation and its worker."""
    began_ns, worker = begun
    with shared.lock:
        shared.recorders[kind].failed(how, message, objects, began_ns=began_ns, worker=worker)


def _check(store: Objects, asked: Blob, kept: list[int], emit: Emit) -> None:
    """Read back every object that the store must have, and request the deleted objects between them."""
    counted = dict.fromkeys(("read", "bytes", "missing", "different", "back"), 0)
    read, expected, wanted = hashlib.sha256(), hashlib.sha256(), set(kept)
    began_ns = time.perf_counter_ns()
    source = Source(asked.command, 0, kept[-1] + 1 if kept else 0)
    for item in source:
        content = store.get(item.key)
        if item.number not in wanted:
            counted["back"] += content is not None
            continue
        sums = [hashlib.sha256(one).digest() for one in (content or b"", item.content)]
        read.update(sums[0])
        expected.update(sums[1])
        counted["missing"] += content is None
        counted["read"] += content is not None
        counted["bytes"] += len(content or b"")
        counted["different"] += content is not None and sums[0] != sums[1]
    source.close()
    store.close()
    digests = {"sha256": read.hexdigest(), "expected": expected.hexdigest()}
    emit(event("checked", objects=len(kept), **counted, **digests))
    recorder = Recorder(lambda _: None, "get").stop()
    done = {
        "duration_ns": time.perf_counter_ns() - began_ns,
        "operations": counted["read"],
        "rows": counted["read"],
    }
    wrong = sum(counted[name] for name in ("missing", "different", "back"))
    emit(
        event(
            "summary",
            **{**recorder, **done, "workload": "blob-check", "errors": wrong, "digest": digests["sha256"]},
        )
    )
