import os

from hypothesis import given
from hypothesis import strategies as st

from benchbook.process.confinement import PADDING, Confinement, confine, has_fixed_layout, separate_cores
from benchbook.process.spawn import start


@given(st.sets(st.integers(1000, 1100)), st.integers(2, 8))
def test_server_and_client_never_share_a_core_and_leave_none_out(usable, least):
    split = separate_cores(usable, least)
    if split is None:
        assert len(usable) < max(least, 2)
    else:
        server, client = split
        assert server | client == usable
        assert not server & client
        assert len(client) <= len(server) <= len(client) + 1


def test_threads_of_one_core_stay_together(monkeypatch):
    from benchbook.process import confinement

    monkeypatch.setattr(confinement, "_siblings", lambda core: {core, (core + 2) % 4})
    assert separate_cores({0, 1, 2, 3}) == ({0, 2}, {1, 3})


def test_a_started_process_runs_on_the_cores_it_was_given_and_the_next_one_on_all(tmp_path):
    core = min(os.sched_getaffinity(0))
    with confine(Confinement(cores=frozenset({core}))):
        pinned = start(["sleep", "60"], name="a sleeper", log=tmp_path / "log")
    free = start(["sleep", "60"], name="a sleeper", log=tmp_path / "log")
    try:
        assert os.sched_getaffinity(pinned.pid) == {core}
        assert os.sched_getaffinity(free.pid) == os.sched_getaffinity(0)
    finally:
        pinned.stop(), free.stop()


def test_a_started_process_has_the_layout_and_the_environment_it_was_given(tmp_path):
    from pathlib import Path

    with confine(Confinement(fixed_layout=True, environment_bytes=4096)):
        moved = start(["sleep", "60"], name="a sleeper", log=tmp_path / "log")
    usual = start(["sleep", "60"], name="a sleeper", log=tmp_path / "log")
    try:
        environments = [Path(f"/proc/{one.pid}/environ").read_bytes() for one in (moved, usual)]
        assert PADDING.encode() in environments[0]
        assert PADDING.encode() not in environments[1]
        assert 4096 - 2 <= len(environments[0]) - len(environments[1]) <= 4096 + 2
        assert [has_fixed_layout(one.pid) for one in (moved, usual)] == [True, False]
    finally:
        moved.stop(), usual.stop()


def test_a_process_that_has_ended_has_no_fixed_layout():
    assert not has_fixed_layout(2**22 + 1)
