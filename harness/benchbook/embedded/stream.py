"""Benchload's stream of batches: complete Arrow IPC streams, one after the other, read ahead by a thread."""

from __future__ import annotations

import contextlib
import queue
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING

from benchbook.embedded.failure import StreamBrokenError
from benchbook.systems.process import die_with_parent

if TYPE_CHECKING:
    import pyarrow as pa

AHEAD = 4
"""Batches that are read ahead, so that the generator works while the engine writes."""


def batches(command: Sequence[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Run benchload's generator and yield (table, batch) in its order; raise StreamBrokenError.

    The generator is ended when the iterator is closed early.
    """
    waiting: queue.Queue[tuple[str, pa.RecordBatch] | Exception | None] = queue.Queue(AHEAD)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=1 << 20,
        preexec_fn=die_with_parent(),  # noqa: PLW1509 - calls nothing but prctl
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        words: deque[bytes] = deque(maxlen=8)
        stop = threading.Event()
        listener = threading.Thread(target=words.extend, args=(process.stderr,), daemon=True)
        reader = threading.Thread(target=_read, args=(process.stdout, waiting, stop), daemon=True)
        listener.start()
        reader.start()
        try:
            while (found := waiting.get()) is not None:
                if isinstance(found, Exception):
                    raise found
                yield found
            code = process.wait()
            listener.join(timeout=5)
            if code != 0:
                said = b" ".join(words).decode(errors="replace").strip() or "it said nothing"
                raise StreamBrokenError(f"benchload generate ended with code {code}: {said}")
        finally:
            stop.set()
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            reader.join(timeout=5)


def _read(
    stream: IO[bytes],
    waiting: queue.Queue[tuple[str, pa.RecordBatch] | Exception | None],
    stop: threading.Event,
) -> None:
    import pyarrow as pa

    def put(item: tuple[str, pa.RecordBatch] | Exception | None) -> None:
        while not stop.is_set():
            with contextlib.suppress(queue.Full):
                waiting.put(item, timeout=0.2)
                return

    try:
        file = pa.PythonFile(stream, "r")
        while not stop.is_set() and stream.peek(1):  # type: ignore[attr-defined]
            opened = pa.ipc.open_stream(file)
            table = (opened.schema.metadata or {}).get(b"table")
            if table is None:
                raise StreamBrokenError("a batch of benchload names no table")
            for batch in opened:
                put((table.decode(), batch))
        put(None)
    except StreamBrokenError as error:
        put(error)
    except (pa.ArrowException, OSError, ValueError) as error:
        # A generator that dies mid-batch is told by its exit code, which the other side looks at first.
        put(StreamBrokenError(f"the stream of benchload ended in the middle: {error}"))
