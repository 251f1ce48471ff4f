"""A results folder that takes no more: full, read-only or forbidden."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchbook.record.folder import cannot_write

FULL_OR_FORBIDDEN = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR}
)


@contextmanager
def told(results: Path) -> Iterator[None]:
    """Turn a refusal of the results folder into the sentence that names it and the next step."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL_OR_FORBIDDEN:
            raise
        raise cannot_write(Path(error.filename or results), error) from None
