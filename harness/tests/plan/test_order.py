"""Blocks are complete, shuffled, and decided by their seed alone."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from benchbook.declare.catalogue import Catalogue
from benchbook.plan.plan import blocks, plan


@given(
    st.lists(st.integers(), min_size=1, max_size=12, unique=True), st.integers(1, 20), st.integers(0, 2**32)
)
def test_every_block_holds_every_cell_once(cells: list[int], count: int, seed: int) -> None:
    ordered = blocks(cells, count, seed)
    assert len(ordered) == count
    assert all(Counter(block) == Counter(cells) for block in ordered)


@given(st.integers(0, 2**32), st.integers(1, 20))
def test_two_cells_go_abba(seed: int, count: int) -> None:
    ordered = blocks(["a", "b"], count, seed)
    assert all(later == earlier[::-1] for earlier, later in zip(ordered[::2], ordered[1::2], strict=False))


def test_each_pair_of_blocks_starts_anew() -> None:
    """ABBA after ABBA is as likely as BAAB after ABBA: noise that lasts longer than a trial then cancels."""
    ordered = blocks(["a", "b"], 2000, 1)
    same = sum(ordered[place] == ordered[place + 2] for place in range(0, 1998, 2))
    assert 430 < same < 570


def test_the_seed_decides() -> None:
    cells = list(range(6))
    assert blocks(cells, 5, 1) == blocks(cells, 5, 1)
    assert blocks(cells, 5, 1) != blocks(cells, 5, 2)


def test_no_block_repeats_the_order_of_an_earlier_one() -> None:
    """With nine cells, two of forty blocks are equal by chance once in 450 seeds; with this seed none are."""
    orders = [tuple(block) for block in blocks(list(range(9)), 40, 1)]
    assert len(set(orders)) == 40


def test_another_run_has_another_order() -> None:
    made = [plan(Catalogue(), "cnos-vs-influx", "seed", trials=2) for _ in range(2)]
    assert made[0].order_seed != made[1].order_seed
    assert [one.cell for one in made[0].trials] != [one.cell for one in made[1].trials]


def test_orders_are_uniform() -> None:
    firsts = Counter(block[0] for seed in range(600) for block in blocks(["a", "b", "c"], 1, seed))
    assert all(150 < count < 250 for count in firsts.values())


@given(st.lists(st.integers(0, 30), min_size=3, max_size=12, unique=True), st.integers(0, 2**32))
def test_cells_of_a_group_run_one_after_the_other(cells: list[int], seed: int) -> None:
    for block in blocks(cells, 3, seed, lambda cell: cell % 3):
        groups = [cell % 3 for cell in block]
        assert len([key for key, _ in itertools.groupby(groups)]) == len(set(groups))
        assert Counter(block) == Counter(cells)


def test_groups_and_cells_within_them_are_shuffled() -> None:
    found = [tuple(block) for block in blocks([0, 1, 2, 3], 800, 1, lambda cell: cell // 2)]
    orders = Counter(found)
    assert len(orders) == 8
    assert all(60 < count < 140 for count in orders.values())


def test_a_plan_runs_compared_systems_one_after_the_other() -> None:
    made = plan(Catalogue(), "cnos-vs-influx", "seed", trials=2)
    for block in range(made.trials_per_cell):
        sizes = [
            (trial.levels["workers"], trial.levels["batch_size"])
            for trial in made.trials
            if trial.block == block
        ]
        assert len(list(itertools.groupby(sizes))) == len(set(sizes)), sizes


def test_the_copies_of_a_setup_in_an_aa_run_are_among_those_it_is_compared_with() -> None:
    made = plan(Catalogue(), "cnos-vs-influx", "seed", trials=2, against_itself=True)
    for block in range(made.trials_per_cell):
        held = [trial.levels for trial in made.trials if trial.block == block]
        sizes = [(levels["workers"], levels["batch_size"]) for levels in held]
        assert len(list(itertools.groupby(sizes))) == len(set(sizes)), sizes
        assert {levels["aa"] for levels in held} == {"A", "B"}
