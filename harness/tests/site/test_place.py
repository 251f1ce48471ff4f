"""The folder of a site: Benchbook replaces what it wrote, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchbook.errors import RequestError
from benchbook.record import folder
from benchbook.site import place


def made(where: Path, **files: str) -> Path:
    for name, content in files.items():
        path = where / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return where


def texts(where: Path) -> dict[str, str]:
    found = {path.relative_to(where).as_posix(): path for path in where.rglob("*") if path.is_file()}
    return {name: path.read_text() for name, path in sorted(found.items()) if name != place.MARK}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    output = tmp_path / "site"
    place.put(
        made(tmp_path / "new", index_html="1", old_html="1", data__old__run_json="1"), output, {"index": "a"}
    )
    return output


def mine(site: Path) -> dict[str, str]:
    return texts(made(site, _git__config="g", CNAME="c", data__mine_csv="m", notes_html="n"))


def test_own_files_in_a_site_stay(site: Path, tmp_path: Path) -> None:
    assert place.read(site).pages == {"index": "a"}
    mine(site)
    place.put(made(tmp_path / "new", index_html="2", data__new__run_json="2"), site, {"index": "b"})
    assert texts(site) == {
        ".git/config": "g", "CNAME": "c", "data/mine.csv": "m", "notes.html": "n",
        "index.html": "2", "data/new/run.json": "2",
    }  # fmt: skip
    assert not (site / "data" / "old").exists()
    assert place.read(site).pages == {"index": "b"}


def test_an_own_file_in_the_way_is_refused_by_its_name(site: Path, tmp_path: Path) -> None:
    before = mine(site)
    with pytest.raises(RequestError, match=r"where the site has its own: notes\.html\. Nothing was changed"):
        place.put(made(tmp_path / "new", index_html="2", notes_html="2"), site, {})
    assert texts(site) == before


def test_a_link_leads_no_file_out_of_the_site(site: Path, tmp_path: Path) -> None:
    made(tmp_path / "elsewhere", old__run_json="theirs", new__run_json="theirs")
    for path in sorted((site / "data").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (site / "data").rmdir()
    (site / "data").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RequestError, match=r"data/new/run\.json"):
        place.put(made(tmp_path / "new", index_html="2", data__new__run_json="2"), site, {})
    place.put(made(tmp_path / "newer", index_html="3"), site, {})
    assert texts(tmp_path / "elsewhere") == {"new/run.json": "theirs", "old/run.json": "theirs"}


@pytest.mark.parametrize("name", ["../victim", "/etc/victim", "a/../../victim", 5])
def test_a_mark_removes_nothing_outside(site: Path, tmp_path: Path, name: object) -> None:
    (tmp_path / "victim").write_text("theirs")
    stated = folder.read_object(site / place.MARK)
    (site / place.MARK).write_text(json.dumps({**stated, "files": [*stated["files"], name]}))
    place.put(made(tmp_path / "new", index_html="2"), site, {})
    assert (tmp_path / "victim").read_text() == "theirs"


def test_the_mark_of_an_earlier_benchbook_lists_its_pages(site: Path, tmp_path: Path) -> None:
    mine(site)
    (site / place.MARK).write_text(json.dumps({"index": "a", "old": "b"}))
    (site / "data" / "mine.csv").unlink()
    place.require_writable(site)
    assert place.read(site).pages == {}
    place.put(made(tmp_path / "new", index_html="2"), site, {})
    assert texts(site) == {".git/config": "g", "CNAME": "c", "notes.html": "n", "index.html": "2"}


def test_a_kill_between_two_files_leaves_own_files_and_renders_again(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = mine(site)
    new = made(tmp_path / "new", index_html="2", other_html="2")
    replace = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if self.name == "other.html":
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        place.put(new, site, {"index": "b"})
    assert own.keys() <= texts(site).keys()
    earlier = place.read(site)
    assert earlier.pages == {}
    assert earlier.files >= {"index.html", "old.html", "other.html"}
