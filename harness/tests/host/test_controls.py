import copy

import pytest

from benchbook.host.controls import CONTROLS, VIRTUAL, checks
from benchbook.host.reading import NOT_READABLE, Tree

STILL = {
    "cpu": {
        "governor": ["performance"],
        "turbo": "off",
        "smt": "off",
        "usable_cores": 8,
        "frequency_driver": ["acpi-cpufreq"],
    },
    "kernel": {"aslr": 2, "clocksource": "tsc", "clocksources_available": ["tsc", "hpet"]},
    "memory": {"transparent_huge_pages": "madvise"},
    "swap": {"total_bytes": 0},
    "load": {"load1": 0.1},
    "steal": {"fraction_since_boot": 0.0},
    "pressure": {"cpu": {"some": {}}},
    "permissions": {
        "drop_caches": True,
        "hardware_counters": True,
        "perf_event_paranoid": 1,
        "superuser": False,
    },
    "cgroup": {
        "version": "v2",
        "controllers": ["cpu", "cpuset", "memory"],
        "may_create_groups": True,
        "cpu_limit_cores": "unlimited",
    },
    "virtualisation": {"hypervisor_flag": False, "hypervisor": "none"},
    "filesystem": {"free_bytes": 10**12},
    "limits": {"open_files": {"soft": 1 << 20, "hard": 1 << 20}},
    "clock": {"synchronised": True},
}


def judged(tmp_path, **changes):
    """Return controls by name, of the machine STILL with the changes ``topic__key=value``."""
    facts = copy.deepcopy(STILL)
    for path, value in changes.items():
        topic, key = path.split("__")
        facts[topic][key] = value
    return {control.control: control for control in checks(tmp_path, facts)}


def test_a_still_machine_is_controlled_throughout(tmp_path):
    found = judged(tmp_path).values()
    assert {control.state for control in found} == {"controlled"}
    assert {control.fix for control in found} == {""}
    assert len(found) == len(CONTROLS)


@pytest.mark.parametrize(
    ("change", "value", "name", "fix"),
    [
        ("cpu__governor", ["powersave"], "frequency governor", "echo performance | sudo tee"),
        ("cpu__turbo", "on", "turbo", "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"),
        ("cpu__smt", "on", "SMT", "echo off | sudo tee"),
        ("kernel__aslr", 0, "address layout randomisation", "sudo sysctl -w kernel.randomize_va_space=2"),
        ("kernel__clocksource", "hpet", "clock source", "echo tsc | sudo tee"),
        ("memory__transparent_huge_pages", "always", "transparent huge pages", "echo madvise"),
        ("swap__total_bytes", 10**9, "swap", "sudo swapoff"),
        ("load__load1", 3.0, "load before the run", "stop other programs"),
        ("pressure__cpu", f"{NOT_READABLE}absent", "pressure information (PSI)", "psi=1"),
        ("permissions__drop_caches", False, "dropping the page cache", "lukewarm"),
        ("permissions__perf_event_paranoid", 4, "hardware counters", "perf_event_paranoid=2"),
        ("cpu__usable_cores", 2, "cores", "more cores"),
        ("cgroup__cpu_limit_cores", 1.5, "CPU quota", "--cpus"),
        ("cgroup__controllers", ["cpu"], "control groups", "Delegate=yes"),
        ("filesystem__free_bytes", 10**6, "free disk for results", "--results"),
        ("limits__open_files", {"soft": 1024, "hard": 1 << 20}, "open files limit", "ulimit -n 65536"),
        ("limits__open_files", {"soft": 1024, "hard": 4096}, "open files limit", "limits.d"),
        ("clock__synchronised", False, "wall clock", "timedatectl"),
    ],
)
def test_each_disturbance_is_named_with_its_fix(tmp_path, change, value, name, fix):
    found = judged(tmp_path, **{change: value})
    assert [control.control for control in found.values() if control.state != "controlled"] == [name]
    assert found[name].state == "not controlled"
    assert fix in found[name].fix


def test_on_a_virtual_machine_the_hardware_cannot_be_fixed(tmp_path):
    absent = f"{NOT_READABLE}the kernel shows no frequency control (cpufreq)"
    found = judged(
        tmp_path,
        virtualisation__hypervisor_flag=True,
        virtualisation__hypervisor="kvm",
        cpu__governor=absent,
        cpu__turbo=absent,
        steal__fraction_since_boot=0.02,
        permissions__hardware_counters=False,
    )
    assert found["virtualisation"].found == "virtual machine (kvm)"
    for name in ("frequency governor", "turbo", "SMT"):
        assert (found[name].state, found[name].fix) == ("unknown", VIRTUAL)
    assert found["frequency governor"].found == "the kernel shows no frequency control (cpufreq)"
    for name in ("steal", "hardware counters", "virtualisation"):
        assert (found[name].state, found[name].fix) == ("not controlled", VIRTUAL)
    assert found["steal"].found == "2.00% since boot"


def test_a_machine_that_tells_nothing_is_unknown_and_no_exception(tmp_path):
    from benchbook.host.facts import facts

    found = checks(tmp_path, facts(tmp_path, Tree(tmp_path / "empty")))
    assert {control.state for control in found} <= {"unknown", "not controlled", "controlled"}
    assert sum(control.state == "unknown" for control in found) >= 8
    assert checks(tmp_path, {})


def test_this_machine_is_judged_in_words(tmp_path):
    for control in checks(tmp_path):
        assert all(isinstance(value, str) for value in vars(control).values())
        assert (control.fix == "") == (control.state == "controlled"), control
