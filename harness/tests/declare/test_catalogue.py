"""Look-up of declarations by name: the nearest valid name for a wrong one, and equal names of file and declaration."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError


def test_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(RequestError) as caught:
        Catalogue().experiment("quickstrat")
    assert 'Did you mean "quickstart"?' in str(caught.value)


def test_name_and_file_name_must_agree(tmp_path: Path) -> None:
    (tmp_path / "storage").mkdir()
    (tmp_path / "storage" / "disk.toml").write_text('name = "local"\ntitle = "x"\ndriver = "local"\n')
    with pytest.raises(RequestError, match=r'storage/disk.toml: name = "local"'):
        Catalogue(tmp_path).storage("disk")
