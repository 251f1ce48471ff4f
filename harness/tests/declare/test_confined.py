"""Names in declarations and requests cannot leave their folder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.declare.catalogue import Catalogue, root
from benchbook.declare.claim import Published
from benchbook.errors import RequestError

OUTSIDE = ["../x", "/etc/passwd", "a/../../b", "..", ".", "a\x00b", "~root", "C:\\x"]


@pytest.mark.parametrize("kind", ["system", "storage", "dataset", "experiment"])
@given(name=st.one_of(st.sampled_from(OUTSIDE), st.text(max_size=20)))
def test_a_name_is_one_that_is_there_or_is_refused(kind, name):
    catalogue = Catalogue()
    if name not in catalogue.names(kind):
        with pytest.raises(RequestError, match="There is no"):
            catalogue.path(kind, name)
    else:
        assert catalogue.path(kind, name).resolve().is_relative_to(root().resolve())


@pytest.mark.parametrize("name", [*OUTSIDE, "x.CSV", "x.csv/../y.csv"])
def test_a_file_of_published_numbers_lies_in_its_folder(name):
    with pytest.raises(ValueError, match="pattern"):
        Published.model_validate({"file": name, "select": {}})
