"""Facts about what stands between us and the hardware: a hypervisor, a container."""

from __future__ import annotations

from benchbook.host.cpu import flags
from benchbook.host.reading import Facts, Tree, Unreadable, readable, said, stated

CONTAINER_MARKS = {"/.dockerenv": "docker", "/run/.containerenv": "podman"}
CONTAINER_GROUPS = ("docker", "kubepods", "lxc", "libpod", "containerd")


def virtualisation(tree: Tree) -> Facts:
    """Return the hypervisor flag, the hypervisor's and the container's kind ("none" for the bare machine)."""
    return {
        "hypervisor_flag": stated(lambda: "hypervisor" in flags(tree)),
        "hypervisor": stated(_hypervisor, tree),
        "container": stated(_container, tree),
        "vendor": stated(tree.text, "/sys/class/dmi/id/sys_vendor"),
        "product": stated(tree.text, "/sys/class/dmi/id/product_name"),
    }


def virtual(facts: Facts) -> bool:
    """Say whether the facts show a virtual machine."""
    topic = facts.get("virtualisation", {})
    named = topic.get("hypervisor", "none")
    return topic.get("hypervisor_flag") is True or (readable(named) and named != "none")


def _hypervisor(tree: Tree) -> str:
    if tree.real:
        try:
            return said(["systemd-detect-virt", "--vm"])
        except Unreadable:
            pass
    if tree.at("/sys/hypervisor/type").exists():
        return tree.text("/sys/hypervisor/type")
    return "a kind not told apart" if "hypervisor" in flags(tree) else "none"


def _container(tree: Tree) -> str:
    if tree.real:
        try:
            return said(["systemd-detect-virt", "--container"])
        except Unreadable:
            pass
    for mark, kind in CONTAINER_MARKS.items():
        if tree.at(mark).exists():
            return kind
    groups = tree.text("/proc/self/cgroup")
    return next((kind for kind in CONTAINER_GROUPS if f"/{kind}" in groups), "none")
