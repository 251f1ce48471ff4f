"""Clock offsets from messages."""

from hypothesis import given
from hypothesis import strategies as st

from benchbook.process.remote import offset


@given(
    ahead=st.floats(-1e4, 1e4),
    ways=st.lists(st.tuples(st.floats(1e-5, 2), st.floats(1e-5, 2)), min_size=9, max_size=9),
)
def test_the_offset_is_never_further_off_than_it_says(ahead, ways):
    clock = [1e3]
    going = iter(ways)
    back = [0.0]

    def ask():
        there, home = next(going)
        clock[0] += there
        back[0] = home
        return clock[0] + ahead

    def now():
        clock[0] += back[0]
        back[0] = 0.0
        return clock[0]

    found = offset(ask, now)
    assert abs(found.seconds - ahead) <= found.error_seconds + 1e-9
    assert found.error_seconds <= min(sum(way) for way in ways) / 2 + 1e-9
