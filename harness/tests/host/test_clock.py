import time

from benchbook.host.conditions import JUMP_SECONDS, Mark, jump, jumped, mark, timekeeping
from benchbook.host.reading import Tree


def test_time_that_passes_is_no_jump():
    begin = mark()
    time.sleep(0.05)
    assert abs(jump(begin, mark())) < 0.05
    assert jumped(begin) is None


def test_a_jump_either_way_is_a_sentence():
    begin = Mark(wall=1000.0, monotonic=10.0)
    assert jumped(begin, Mark(1060.0, 70.0)) is None
    assert jumped(begin, Mark(1060.0 + JUMP_SECONDS, 70.0)) is None
    assert "forward by 3600.0 s" in (jumped(begin, Mark(4660.0, 70.0)) or "")
    assert "back by 59.0 s" in (jumped(begin, Mark(1001.0, 70.0)) or "")


def test_the_kernel_says_whether_it_follows_a_time_server(tmp_path):
    assert (
        timekeeping(Tree())["synchronised"] in (True, False)
        or "not readable" in timekeeping(Tree())["synchronised"]
    )
    assert "not readable" in timekeeping(Tree(tmp_path))["synchronised"]
