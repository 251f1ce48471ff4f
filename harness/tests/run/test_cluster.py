"""The machines of a cluster: which are there, and their differences in sentences."""

from __future__ import annotations

import gc
import socket
from collections.abc import Iterator

import dask
import distributed
import pytest
from distributed import LocalCluster

from benchbook.errors import RequestError
from benchbook.run import cluster
from benchbook.run.cluster import CLIENT, SERVER, Cluster, _answer, _packages, _require_same
from benchbook.run.progress import Progress

PACKAGES = {"python": "3.11.7.final.0", "dask": "2026.8.0", "distributed": "2026.8.0", "cloudpickle": "3.1"}


def test_another_version_of_dask_is_named() -> None:
    ours = _packages({"packages": PACKAGES})
    theirs = _packages({"packages": {**PACKAGES, "dask": "2025.7.0"}})
    with pytest.raises(RequestError, match=r"The worker x has another dask \(2025\.7\.0\) than this machine"):
        _require_same("The worker x", theirs, ours)


def test_another_patch_of_python_is_no_difference() -> None:
    theirs = _packages({"packages": {**PACKAGES, "python": "3.11.2.final.0"}})
    _require_same("The worker x", theirs, _packages({"packages": PACKAGES}))
    other = _packages({"packages": {**PACKAGES, "python": "3.12.1.final.0"}})
    with pytest.raises(RequestError, match=r"another Python \(3\.12\) than this machine \(3\.11\)"):
        _require_same("The worker x", other, theirs)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ModuleNotFoundError("No module named 'benchbook'"), "cannot import this Benchbook (No module named"),
        (AttributeError("no attribute 'about'"), "cannot import this Benchbook"),
        (OSError("Timed out"), "does not answer (Timed out)"),
    ],
)
def test_one_that_cannot_answer_is_named(error: Exception, words: str) -> None:
    def ask() -> dict[str, object]:
        raise error

    with pytest.raises(RequestError) as caught:
        _answer("The scheduler tcp://x:1", ask)
    assert caught.value.message.startswith("The scheduler tcp://x:1 ")
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("scheme", ["tls", "ucx", "ws", "nonsense"])
def test_an_address_that_dask_cannot_use_is_a_sentence(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with pytest.raises(
        RequestError, match=f"--cluster {scheme}://127.0.0.1:1: no Dask scheduler answers there"
    ):
        Cluster(f"{scheme}://127.0.0.1:1", Progress(estimate_seconds=0), "quickstart")


def test_a_port_that_is_silent_is_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask's client waited 400 s for it, whatever its limit."""
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    monkeypatch.setattr(cluster, "GRACE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(RequestError, match="no Dask scheduler answers there"):
            Cluster(address, Progress(estimate_seconds=0), "quickstart")


def test_a_client_that_failed_to_connect_is_collected_without_a_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask's client closed itself when it was collected, within the start of another client: both waited for ever."""
    closed = []
    monkeypatch.setattr(distributed.Client, "close", lambda *_, **__: closed.append(True))
    with pytest.raises(RequestError, match="no Dask scheduler answers there"):
        Cluster("tls://127.0.0.1:1", Progress(estimate_seconds=0), "quickstart")
    gc.collect()
    assert not closed


@pytest.fixture
def scheduler() -> Iterator[str]:
    """A scheduler in this process with one worker that has both resources."""
    with (
        dask.config.set({"distributed.client.scheduler-info-interval": "1ms"}),
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1",
            dashboard_address=None, resources={SERVER: 1, CLIENT: 1},
        ) as made,
    ):  # fmt: skip
        yield made.scheduler_address


def test_dasks_own_updates_do_not_make_workers_disappear(scheduler: str) -> None:
    """Dask's client asks the scheduler for its state now and then, without the workers."""
    cluster = Cluster(scheduler, Progress(estimate_seconds=0), "quickstart")
    try:
        first = cluster.workers(SERVER)
        assert len(first) == 1
        assert [cluster.workers(SERVER) for _ in range(500)] == [first] * 500
    finally:
        cluster.close()
