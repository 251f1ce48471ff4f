"""``bench lock --check``: which images have a digest, and what is wrong with the lock."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchbook.cli.app import run
from benchbook.declare.catalogue import Catalogue, root
from benchbook.errors import RequestError
from benchbook.provision import image_lock

LISTED = {  # no public file states the digest of these versions
    "apache/kvrocks:2.8.0", "cnosdb/cnosdb:v2.0.1", "dolphindb/dolphindb:v2.00.12", "questdb/questdb:9.3.4",
    "victoriametrics/victoria-metrics:v1.79.5", "yandex/clickhouse-server:18.16.1",
}  # fmt: skip


def test_every_declared_image_has_a_digest_or_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lock", "--check", "--json"]) == 0
    rows = {row["image"]: row for row in json.loads(capsys.readouterr().out)}
    without = {tag for tag, row in rows.items() if not row["digest"]}
    assert without <= LISTED
    assert {rows[tag]["state"] for tag in without} <= {"not pulled yet: its first pull locks it"}
    assert rows["mysql:8.0.26"]["state"] == "systems/mysql-8.toml"


def test_an_image_with_a_digest_has_the_tag_of_a_patch() -> None:
    """A tag such as ``mysql:9.7`` would move, so that the digest beside it is of another version."""
    catalogue = Catalogue()
    for name in catalogue.names("system"):
        system = catalogue.system(name)
        if (source := system.source.docker) is not None and system.match == "series":
            tag = image_lock.tag_of(source.image).rpartition(":")[2].removeprefix("v")
            assert tag.startswith(f"{system.version}.") or tag == "community-latest", source.image


def test_an_image_without_a_digest_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    systems = tmp_path / "systems"
    systems.mkdir()
    (tmp_path / "experiments").mkdir()
    for name in ("redis-7", "kvrocks-2.8.0"):
        text = (root() / f"systems/{name}.toml").read_text()
        (systems / f"{name}.toml").write_text(
            "".join(line for line in text.splitlines(True) if not line.startswith("digest"))
        )
    lock = systems / image_lock.FILE
    listed = {"apache/kvrocks:2.8.0": {"digest": None, "by": "first pull"}}
    monkeypatch.setenv("BENCHBOOK_ROOT", str(tmp_path))
    lock.write_text(json.dumps(listed))
    assert run(["lock", "--check"]) == 2
    shown = capsys.readouterr()
    assert "1 image has no digest: redis-7 (redis:7.0.15)." in shown.err
    assert "./bench lock redis-7" in shown.err
    assert run(["lock", "kvrocks-2.8.0", "--check"]) == 0
    lock.write_text(
        json.dumps({**listed, "redis:7.0.15": {"digest": "sha256:" + "1" * 64, "by": "bench lock"}})
    )
    assert run(["lock", "--check"]) == 0
    lock.write_text(
        json.dumps({**json.loads(lock.read_text()), "gone:1": {"digest": None, "by": "first pull"}})
    )
    assert run(["lock", "--check"]) == 2
    assert "locks gone:1, which no system uses" in " ".join(capsys.readouterr().err.split())


def test_a_lock_of_an_older_benchbook_is_read(tmp_path: Path) -> None:
    file = tmp_path / "images.lock.json"
    file.write_text('{"redis:7": "sha256:00"}')
    assert image_lock.read(file) == {"redis:7": image_lock.Locked("sha256:00", image_lock.FIRST_PULL)}


def test_a_damaged_lock_of_the_cache_is_to_be_removed(tmp_path: Path) -> None:
    file = tmp_path / "images.lock.json"
    file.write_text('{"redis:7": 5}')
    with pytest.raises(RequestError) as refused:
        image_lock.read(file)
    assert refused.value.hint == "Remove it; it is written anew."
