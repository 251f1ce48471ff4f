"""The ledger with simulated processes whose exact usage is known."""

import os
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchbook.measure import ledger as module
from benchbook.measure.ledger import Ledger
from benchbook.measure.usage import ZERO, Process, Usage

HARNESS = 1
many = settings(max_examples=int(os.environ.get("BENCHBOOK_FUZZ") or 100))
TICK = Usage(user=1, system=2, read=3, written=4)


@dataclass
class Made:
    pid: int
    parent: int
    tree: str
    started: int
    usage: Usage = ZERO
    reaped: Usage = ZERO
    """CPU of children, as the kernel counts it; their bytes are part of the parent's."""
    zombie: bool = False
    bytes_known: bool = True


@dataclass
class World:
    """Processes that fork, work, die, and are waited for or not."""

    alive: dict[int, Made] = field(default_factory=dict)
    truth: dict[str, Usage] = field(default_factory=lambda: {"server": ZERO, "client": ZERO})
    waited: Usage = ZERO
    last_pid: int = HARNESS
    now: int = 100

    def fork(self, parent: int, tree: str) -> int:
        self.last_pid += 1
        self.alive[self.last_pid] = Made(self.last_pid, parent, tree, self.now)
        return self.last_pid

    def work(self, pid: int, times: int = 1) -> None:
        process = self.alive[pid]
        for _ in range(times):
            process.usage = process.usage.plus(TICK)
            self.truth[process.tree] = self.truth[process.tree].plus(TICK)

    def die(self, pid: int, waited: bool = True) -> None:
        dead = self.alive.pop(pid)
        for orphan in self.alive.values():
            if orphan.parent == pid:
                orphan.parent = 0
        if not waited:
            return
        cpu = Usage(dead.usage.user, dead.usage.system).plus(dead.reaped)
        if dead.parent == HARNESS:
            self.waited = self.waited.plus(cpu)
        elif dead.parent in self.alive:
            heir = self.alive[dead.parent]
            heir.reaped = heir.reaped.plus(cpu)
            heir.usage = heir.usage.plus(Usage(0, 0, dead.usage.read, dead.usage.written))

    def read(self, pid: int) -> Process | None:
        made = self.alive.get(pid)
        if made is None:
            return None
        usage = made.usage if made.bytes_known else made.usage._replace(read=-1, written=-1)
        return Process(pid, made.parent, made.started, 1, usage, made.reaped, 10, 10, 3, made.bytes_known)

    def children(self, pid: int) -> list[int]:
        return [made.pid for made in self.alive.values() if made.parent == pid]

    def update(self, book: Ledger) -> dict[str, Usage]:
        roots = {
            tree: [made.pid for made in self.alive.values() if made.parent == HARNESS and made.tree == tree]
            for tree in ("server", "client")
        }
        book.update(roots, self.waited)
        return {name: tree.usage for name, tree in book.trees.items()}


@pytest.fixture
def world(monkeypatch):
    return connected(monkeypatch)


def connected(monkeypatch):
    made = World()
    monkeypatch.setattr(module, "read", made.read)
    monkeypatch.setattr(module, "children", made.children)
    monkeypatch.setattr(module, "reset_peak", lambda _: None)
    return made


def cpu(usage):
    return usage.user + usage.system


def test_a_process_that_is_older_than_the_trial_counts_from_its_first_sight(world):
    server = world.fork(HARNESS, "server")
    world.alive[server].started = 5
    world.work(server, 7)
    book = Ledger(HARNESS, 100)
    assert world.update(book)["server"] == ZERO
    world.work(server)
    assert world.update(book)["server"] == TICK
    world.die(server)
    ended = world.update(book)
    assert ended["server"] == TICK
    assert cpu(ended["client"]) == 0


def test_an_old_child_that_its_parent_waits_for_brings_no_old_use(world):
    server = world.fork(HARNESS, "server")
    child = world.fork(server, "server")
    world.alive[server].started = world.alive[child].started = 5
    world.work(child, 9)
    book = Ledger(HARNESS, 100)
    world.update(book)
    world.work(child)
    world.die(child)
    assert world.update(book)["server"] == TICK


def test_a_pid_used_again_is_another_process(world):
    book = Ledger(HARNESS, 100)
    server = world.fork(HARNESS, "server")
    world.work(server, 3)
    world.update(book)
    world.die(server)
    world.alive[server] = Made(server, HARNESS, "server", started=200)
    world.work(server, 1)
    assert world.update(book)["server"] == TICK.plus(TICK).plus(TICK).plus(TICK)


def test_the_last_moments_of_both_trees_at_once_go_to_both(world):
    book = Ledger(HARNESS, 100)
    server, client = world.fork(HARNESS, "server"), world.fork(HARNESS, "client")
    world.work(server, 2), world.work(client, 2)
    world.update(book)
    world.die(server), world.die(client)
    ended = world.update(book)
    assert (ended["server"], ended["client"]) == (TICK.plus(TICK), TICK.plus(TICK))


def test_bytes_that_are_not_for_us_to_read_are_unknown_not_zero(world):
    book = Ledger(HARNESS, 100)
    server = world.fork(HARNESS, "server")
    world.alive[server].bytes_known = False
    world.work(server)
    world.update(book)
    assert not book.trees["server"].bytes_known
    assert book.trees["client"].bytes_known
    assert cpu(book.trees["server"].usage) == 3


def test_of_children_that_die_at_once_one_waited_for_and_one_not_each_byte_counts_once(world):
    book = Ledger(HARNESS, 100)
    server = world.fork(HARNESS, "server")
    left, waited = world.fork(server, "server"), world.fork(server, "server")
    world.work(left, 2), world.work(waited, 1)
    world.update(book)
    world.die(left, waited=False), world.die(waited, waited=True)
    sums = world.update(book)["server"]
    assert cpu(sums) == cpu(world.truth["server"])
    assert sums.read <= world.truth["server"].read
    assert sums.written <= world.truth["server"].written


steps = st.lists(
    st.one_of(
        st.tuples(st.just("fork"), st.integers(0, 20)),
        st.tuples(st.just("work"), st.integers(0, 20)),
        st.tuples(st.just("die"), st.integers(0, 20)),
        st.tuples(st.just("sample"), st.just(0)),
    ),
    max_size=60,
)


def live(steps, waited):
    """Yield the sums and the truth at every sample; only the server's processes fork."""
    with pytest.MonkeyPatch.context() as patch:
        world = connected(patch)
        book = Ledger(HARNESS, 100)
        server = world.fork(HARNESS, "server")
        for number, (step, choice) in enumerate(steps):
            among = list(world.alive)
            pid = among[choice % len(among)]
            world.now += 1
            if step == "fork":
                world.fork(pid, "server")
            elif step == "work":
                world.work(pid)
            elif step == "die" and pid != server and not world.children(pid):
                world.die(pid, waited=waited(number))
            elif step == "sample":
                yield world.update(book), world.truth
        yield world.update(book), world.truth
        world.die(server)
        yield world.update(book), world.truth


@many
@given(steps)
def test_what_parents_wait_for_is_exact_whenever_it_is_sampled(steps):
    for sums, truth in live(steps, waited=lambda _: True):
        assert sums["server"] == truth["server"]
        assert sums["client"] == ZERO


@many
@given(steps, st.integers(2, 4))
def test_sums_never_go_backwards_nor_beyond_the_truth(steps, every):
    before = ZERO
    for sums, truth in live(steps, waited=lambda number: number % every == 0):
        now = sums["server"].plus(sums["client"])
        assert all(one <= two for one, two in zip(before, now, strict=True))
        assert all(one <= two for one, two in zip(now, truth["server"], strict=True))
        before = now
