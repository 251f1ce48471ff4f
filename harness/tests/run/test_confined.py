import os

import pytest

from benchbook.declare.experiment import Limits
from benchbook.errors import TrialInvalid, Unavailable
from benchbook.process.confinement import ControlGroup
from benchbook.process.launch import Program
from benchbook.run.confined import Confined
from benchbook.run.findings import Findings


def program(url=None):
    return Program("a-system", "1", "go", url=url)


def test_a_limit_on_a_server_elsewhere_is_a_reason_to_skip():
    with pytest.raises(Unavailable, match="already runs at http://there"):
        Confined(Limits(cpu_cores=1.0), 0, program("http://there"), embedded=False)


def test_a_limit_of_writes_on_a_server_elsewhere_is_a_reason_to_skip():
    with pytest.raises(Unavailable, match="limits writes per second, which does not apply to a-system"):
        Confined(Limits(), 0, program("http://there"), embedded=False, writes={"7:1": 200})


def test_the_kernel_is_asked_whether_it_limits_the_writes(monkeypatch):
    try:
        confined = Confined(Limits(), 9996, program(), embedded=False, writes={"7:1": 200})
    except Unavailable as reason:
        pytest.skip(str(reason))
    findings = Findings()
    try:
        confined.check(findings, list)
        monkeypatch.setattr(ControlGroup, "writes_in_force", lambda _: [])
        confined.check(findings, list)
    finally:
        confined.remove()
    named = [one["ok"] for one in findings.checks if "limit of writes" in one["name"]]
    assert named == [True, False]


def test_a_system_outside_its_group_makes_the_trial_invalid():
    try:
        confined = Confined(Limits(memory_bytes=1 << 26), 9998, program(), embedded=False)
    except Unavailable as reason:
        pytest.skip(str(reason))
    findings = Findings()
    try:
        confined.check(findings, lambda: [os.getpid()])
    finally:
        confined.remove()
    assert {check["name"]: check["ok"] for check in findings.checks} == {
        "memory limit in force, bytes": True,
        "processes of the system outside its control group": False,
    }
    with pytest.raises(TrialInvalid, match="outside its control group"):
        findings.require_whole()


def test_with_two_cores_it_is_said_that_they_are_shared(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    shared = Confined(Limits(), 0, program(), embedded=False)
    assert shared.cores is None
    assert shared.as_dict()["pinning"] == "none: server and client share 2 cores, too few to separate them"
    own = Confined(Limits(pinning="always"), 0, program(), embedded=False)
    assert (own.as_dict()["server_cores"], own.as_dict()["client_cores"]) == ([0], [1])
    assert own.client_cores() == 1


def test_with_four_cores_each_has_two_and_a_process_of_the_system_on_others_is_found(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr("benchbook.process.confinement._siblings", lambda core: {core})
    confined, findings = Confined(Limits(), 0, program(), embedded=False), Findings()
    assert confined.cores == ({0, 1}, {2, 3})
    confined.check(findings, lambda: [1])
    assert [check["ok"] for check in findings.checks] == [False]


@pytest.mark.parametrize(
    "limits",
    [Limits(core=0), Limits(layout="fixed"), Limits(environment_bytes=100)],
    ids=["core", "layout", "environment"],
)
def test_surroundings_of_a_server_elsewhere_are_a_reason_to_skip(limits):
    with pytest.raises(Unavailable, match="do not apply to a-system"):
        Confined(limits, 0, program("http://there"), embedded=False)
    with pytest.raises(Unavailable, match="do not apply to a-system"):
        Confined(limits, 0, Program("a-system", "1", "docker", image="sha256:1"), embedded=False)


def test_a_core_is_that_of_the_system_also_of_an_embedded_one(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 5, 7})
    for embedded in (True, False):
        confined = Confined(Limits(core=1), 0, program(), embedded=embedded)
        assert confined.cores == ({5}, {2, 5, 7})
        assert confined.as_dict()["pinning"] == "the system on core 5"
    with pytest.raises(Unavailable, match="core 3 does not exist for a-system: 3 cores are usable"):
        Confined(Limits(core=3), 0, program(), embedded=True)


def test_a_random_layout_in_place_of_a_fixed_one_makes_the_trial_invalid():
    confined, findings = Confined(Limits(layout="fixed"), 0, program(), embedded=True), Findings()
    confined.check(findings, lambda: [os.getpid()])
    assert [(one["kind"], one["ok"]) for one in findings.checks] == [("limits", False)]
