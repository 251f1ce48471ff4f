"""Facts from a file tree of the test, which imitates other machines."""

import pytest

from benchbook.host.cgroup import cgroup
from benchbook.host.conditions import current_load, load, pressure, steal
from benchbook.host.facts import kernel, machine, virtual, virtualisation
from benchbook.host.filesystem import describe, device_of, filesystem
from benchbook.host.hardware import cpu, memory, numa, swap
from benchbook.host.reading import NOT_READABLE, Tree, Unreadable


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


@pytest.fixture
def write(tree):
    def put(path, text):
        file = tree.at(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    return put


def test_a_bare_metal_processor(tree, write):
    write(
        "/proc/cpuinfo",
        "processor : 0\nmodel name : Xeon\nmicrocode : 0x1\nflags : fpu vme\n\nprocessor : 1\n",
    )
    cpus = "/sys/devices/system/cpu"
    write(f"{cpus}/online", "0-1,4-5\n")
    for core, siblings in ((0, "0,4"), (1, "1,5"), (4, "0,4"), (5, "1,5")):
        write(f"{cpus}/cpu{core}/topology/thread_siblings_list", siblings)
    write(f"{cpus}/smt/active", "1")
    for policy in (0, 1):
        write(f"{cpus}/cpufreq/policy{policy}/scaling_governor", "powersave")
        write(f"{cpus}/cpufreq/policy{policy}/scaling_driver", "intel_pstate")
        for name, value in (("scaling_cur", 2100000), ("cpuinfo_min", 800000), ("cpuinfo_max", 3900000)):
            write(f"{cpus}/cpufreq/policy{policy}/{name}_freq", str(value))
    write(f"{cpus}/intel_pstate/no_turbo", "0")
    for index, (level, size) in enumerate((("1", "32K"), ("2", "1M"))):
        write(f"{cpus}/cpu0/cache/index{index}/level", level)
        write(f"{cpus}/cpu0/cache/index{index}/type", "Unified")
        write(f"{cpus}/cpu0/cache/index{index}/size", size)
        write(f"{cpus}/cpu0/cache/index{index}/shared_cpu_list", "0,4")
    found = cpu(tree)
    assert (found["model"], found["microcode"], found["flags_count"]) == ("Xeon", "0x1", 2)
    assert (found["logical_cores"], found["physical_cores"], found["smt"]) == (4, 2, "on")
    assert (found["governor"], found["turbo"]) == (["powersave"], "on")
    assert found["frequency_mhz"] == {"now": 2100, "least": 800, "most": 3900}
    assert [cache["size"] for cache in found["caches"]] == ["32K", "1M"]


def test_an_arm_processor_is_named_by_its_numbers(tree, write):
    write("/proc/cpuinfo", "processor : 0\nFeatures : fp asimd\nCPU implementer : 0x41\nCPU part : 0xd0c\n")
    found = cpu(tree)
    assert found["model"] == "implementer 0x41 part 0xd0c"
    assert found["flags_count"] == 2
    assert found["turbo"].startswith(NOT_READABLE)


def test_memory_swap_and_nodes(tree, write):
    write("/proc/meminfo", "MemTotal: 2048 kB\nMemAvailable: 1024 kB\nSwapTotal: 8 kB\nSwapFree: 4 kB\n")
    write("/proc/swaps", "Filename Type Size Used Priority\n/swap file 8 4 -2\n")
    write("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n")
    write("/sys/devices/system/node/node0/cpulist", "0-3")
    write("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  2048 kB\n")
    assert memory(tree)["total_bytes"] == 2048 * 1024
    assert memory(tree)["transparent_huge_pages"] == "always"
    assert memory(tree)["huge_pages_bytes"] == "not readable: /proc/meminfo has no Hugetlb"
    assert (swap(tree)["used_bytes"], swap(tree)["kinds"]) == (4096, ["file"])
    assert numa(tree)["nodes"] == [{"node": "node0", "cores": 4, "total_bytes": 2048 * 1024}]


def test_only_boot_options_that_matter_are_kept(tree, write):
    write("/proc/cmdline", "root=UUID=1234 console=ttyS0 nosmt isolcpus=2-3 secret=x\n")
    assert kernel(tree)["boot_options"] == {"isolcpus": "2-3", "nosmt": "set"}


def test_the_machines_id_is_stable_and_not_its_own(tree, write):
    write("/etc/machine-id", "0123456789abcdef0123456789abcdef\n")
    found = machine(tree)["id"]
    assert found == machine(tree)["id"]
    assert len(found) == 16
    assert found not in "0123456789abcdef0123456789abcdef"
    write("/etc/machine-id", "uninitialized\n")
    assert machine(tree)["id"].startswith(NOT_READABLE)


def test_limits_of_control_groups_version_2_are_the_tightest_above_us(tree, write):
    write("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    write("/proc/self/cgroup", "0::/user.slice/bench\n")
    write("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n")
    write("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n")
    write("/sys/fs/cgroup/user.slice/bench/cpu.max", "max 100000\n")
    write("/sys/fs/cgroup/user.slice/bench/memory.max", "1073741824\n")
    write("/sys/fs/cgroup/user.slice/memory.max", "2147483648\n")
    write("/sys/fs/cgroup/user.slice/bench/cpuset.cpus.effective", "0-1\n")
    found = cgroup(tree)
    assert found["version"] == "v2"
    assert found["cpu_limit_cores"] == 1.5
    assert found["memory_limit_bytes"] == 1 << 30
    assert found["cpuset_cores"] == 2
    assert found["processes_limit"] == "unlimited"


def test_limits_of_control_groups_version_1_within_a_container(tree, write):
    write(
        "/proc/self/mountinfo",
        "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
        "33 31 0:30 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
    )
    write("/proc/self/cgroup", "2:cpu,cpuacct:/docker/abc\n1:memory:/docker/abc\n")
    write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n")
    write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
    write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    found = cgroup(tree)
    assert found["version"] == "v1"
    assert found["controllers"] == ["cpu", "cpuacct", "memory"]
    assert found["cpu_limit_cores"] == 0.5
    assert found["memory_limit_bytes"] == "unlimited"


def test_a_partition_its_disk_and_its_mount_options(tree, write, tmp_path):
    folder = tmp_path / "data"
    write(
        "/proc/self/mountinfo",
        f"1 0 9:9 / / rw - ext4 /dev/sdb1 rw\n"
        f"2 1 8:3 / {tmp_path} rw,noatime - ext4 /dev/sda3 rw,commit=30,password=hunter2\n",
    )
    disk = "/sys/devices/pci/block/sda"
    write(f"{disk}/sda3/partition", "3")
    write(f"{disk}/queue/rotational", "0")
    write(f"{disk}/queue/scheduler", "none [mq-deadline] kyber")
    write(f"{disk}/device/model", "Samsung SSD\n")
    for link, target in (("dev/block/8:3", f"{disk}/sda3"), ("block/sda", disk)):
        at = tree.at(f"/sys/{link}")
        at.parent.mkdir(parents=True, exist_ok=True)
        at.symlink_to(tree.at(target))
    device = device_of(folder, tree)
    assert (device.name, device.disk, device.under) == ("sda3", "sda", ())
    found = filesystem(folder, tree)
    assert found["type"] == "ext4"
    assert found["mount_options"] == ["rw", "noatime", "commit=30", "password=…"]
    assert found["device"] == describe(device, tree)
    assert (found["device"]["model"], found["device"]["rotational"]) == ("Samsung SSD", False)
    assert found["device"]["scheduler"] == "mq-deadline"


def test_a_file_system_without_a_device_says_so(tree, write, tmp_path):
    write("/proc/self/mountinfo", "1 0 0:40 / / rw - tmpfs tmpfs rw,size=10k\n")
    with pytest.raises(Unreadable, match="tmpfs has no block device"):
        device_of(tmp_path, tree)
    found = filesystem(tmp_path, tree)
    assert found["mount_options"] == ["rw", "size=10k"]
    assert found["device"] == "not readable: tmpfs has no block device"


def test_load_pressure_and_steal(tree, write):
    write("/proc/loadavg", "0.50 1.00 1.50 2/345 6789\n")
    write("/proc/stat", "cpu  10 0 10 70 0 0 0 10 5 5\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
    write("/proc/pressure/cpu", "some avg10=2.50 avg60=0.00 avg300=0.00 total=1000000\n")
    assert load(tree) == {"load1": 0.5, "load5": 1.0, "load15": 1.5, "runnable": 2}
    assert steal(tree)["fraction_since_boot"] == 0.1
    assert pressure(tree)["cpu"]["some"]["total_seconds"] == 1.0
    assert pressure(tree)["io"].startswith(NOT_READABLE)
    assert current_load(tree) == {
        "load1": 0.5, "load5": 1.0, "load15": 1.5, "runnable": 2.0, "psi_cpu_some_avg10": 2.5,
    }  # fmt: skip


def test_a_guest_is_told_from_a_bare_machine(tree, write):
    write("/proc/cpuinfo", "flags : fpu hypervisor\n")
    write("/proc/self/cgroup", "0::/\n")
    assert virtual({"virtualisation": virtualisation(tree)})
    write("/proc/cpuinfo", "flags : fpu\n")
    assert not virtual({"virtualisation": virtualisation(tree)})
    assert virtualisation(tree)["container"] == "none"
    write("/.dockerenv", "")
    assert virtualisation(tree)["container"] == "docker"
