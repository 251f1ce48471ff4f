"""Fill a folder of the cache once: whole or not at all, however many harnesses want it at the same time."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchbook.errors import Unavailable
from benchbook.provision.request import Request


def into(
    folder: Path,
    whole: Callable[[], bool],
    fill: Callable[[Path], None],
    title: str,
    request: Request,
) -> None:
    """Have ``fill`` make the content of ``folder``, unless another harness did so in the meantime.

    It is made in a folder beside it, renamed at the end, under a lock that the kernel frees when its holder dies;
    so an interruption leaves nothing that could be taken for the whole.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with lock(folder, title, request):
            if not whole():
                for left in folder.parent.glob(f".{folder.name}.building-*"):
                    shutil.rmtree(left, ignore_errors=True)
                new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.building-", dir=folder.parent))
                try:
                    fill(new)
                    new.chmod(0o755)
                    shutil.rmtree(folder, ignore_errors=True)
                    new.rename(folder)
                finally:
                    shutil.rmtree(new, ignore_errors=True)
    except OSError as error:
        raise Unavailable(
            f"{title} cannot be put into the cache {folder}: {error.strerror or error}.",
            "Free or make writable that folder, or name another one in BENCHBOOK_CACHE.",
        ) from error


@contextlib.contextmanager
def lock(folder: Path, title: str, request: Request) -> Iterator[None]:
    """Hold the lock of one pin, waiting with words while another harness fills it."""
    with (folder.parent / f".{folder.name}.lock").open("a") as file:
        started = told = time.monotonic()
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() - told >= 1:
                    told = time.monotonic()
                    request.progress(f"waiting while another harness builds {title} ({told - started:.0f} s)")
                time.sleep(0.1)
        yield
