"""The systems that tests build from Go modules, with the Go that ./bench found."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from benchbook.declare.catalogue import Catalogue
from benchbook.errors import Unavailable
from benchbook.provision.find import find
from benchbook.provision.request import Request

SYSTEMS = ("influxdb-1.8.10", "minio")


def go_request() -> Request:
    """Ask for a system as a command does: with the Go of ./bench, if it started the tests."""
    go = os.environ.get("BENCHBOOK_GO")
    return Request(go=Path(go) if go else None)


def build_all() -> None:
    """Build each of SYSTEMS that is not in the cache; a test that needs one which cannot be built says why."""
    catalogue = Catalogue()
    for name in SYSTEMS:
        with contextlib.suppress(Unavailable):
            find(catalogue.system(name), go_request(), only="go")


if __name__ == "__main__":
    os.nice(10)  # the other tests come first
    build_all()
