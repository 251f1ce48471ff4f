"""Images without an engine: unpacking layers, whose user they run as, and the registry that is asked."""

import gzip
import hashlib
import io
import json
import os
import tarfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.declare.system import ContainerSource, System
from benchbook.errors import Unavailable
from benchbook.process import sandbox
from benchbook.provision import go, image, image_lock, oci
from benchbook.provision.find import find
from benchbook.provision.request import Missing, Request

from .conftest import executable, system

TAR, GZIP = "application/vnd.oci.image.layer.v1.tar", "application/vnd.docker.image.rootfs.diff.tar.gzip"
ZSTD = f"{TAR}+zstd"


def packed(layer, kind):
    """Return a layer in its compression."""
    if kind == ZSTD:
        return pa.compress(layer, codec="zstd", asbytes=True)
    return gzip.compress(layer) if kind == GZIP else layer


def layer(*entries):
    """Return a layer: (name, content) for a file, (name, None) for a folder, (name, kind, target) for a link."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, *rest in entries:
            entry = tarfile.TarInfo(name)
            entry.mode = 0o755
            content = b""
            if len(rest) == 2:
                entry.type, entry.linkname = rest
            elif rest[0] is None:
                entry.type = tarfile.DIRTYPE
            else:
                content = rest[0].encode()
                entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def layout(folder, *layers, config=None, kind=TAR):
    """Write an image layout and return its folder."""
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True, exist_ok=True)

    def keep(content):
        digest = hashlib.sha256(content).hexdigest()
        (blobs / digest).write_bytes(content)
        return {"digest": f"sha256:{digest}", "size": len(content)}

    manifest = {
        "config": keep(json.dumps({"config": config or {}}).encode()),
        "layers": [{**keep(packed(one, kind)), "mediaType": kind} for one in layers],
    }
    (folder / "index.json").write_text(json.dumps({"manifests": [keep(json.dumps(manifest).encode())]}))
    return folder


def content(root):
    """Return the names below a folder with the content of files and the targets of links."""
    found = {}
    for place in sorted(root.rglob("*")):
        name = str(place.relative_to(root))
        if place.is_symlink():
            found[name] = f"-> {place.readlink()}"
        else:
            found[name] = None if place.is_dir() else place.read_text()
    return found


def unpacked(tmp_path, *layers, **more):
    oci.unpack(layout(tmp_path / "layout", *layers, **more), tmp_path / "root")
    return content(tmp_path / "root")


@pytest.mark.parametrize("kind", [TAR, GZIP, ZSTD])
def test_a_later_layer_replaces_and_removes_what_earlier_ones_have(tmp_path, kind):
    lower = layer(("a", None), ("a/kept", "1"), ("a/gone", "2"), ("b", None), ("b/old", "3"), ("c", "4"))
    upper = layer(("a/.wh.gone", ""), ("b/new", "5"), ("b/.wh..wh..opq", ""), ("c", None), ("c/d", "6"))
    found = unpacked(tmp_path, lower, upper, kind=kind)
    assert found == {"a": None, "a/kept": "1", "b": None, "b/new": "5", "c": None, "c/d": "6"}


def test_links_lead_nowhere_outside_the_root(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    found = unpacked(
        tmp_path,
        layer(("way", tarfile.SYMTYPE, str(outside)), ("up", tarfile.SYMTYPE, "../../outside")),
        layer(("way/made", "1"), ("up/made", "2"), ("../escaped", "3"), ("up/.wh.secret", "")),
    )
    assert content(outside) == {"secret": "secret"}
    assert not (tmp_path / "escaped").exists()
    assert found["escaped"] == "3"


def test_a_hard_link_is_one_of_the_image(tmp_path):
    found = unpacked(tmp_path, layer(("a", "1"), ("b", tarfile.LNKTYPE, "/a")))
    assert found == {"a": "1", "b": "1"}
    with pytest.raises(Unavailable, match="which the image does not have"):
        unpacked(tmp_path / "other", layer(("b", tarfile.LNKTYPE, f"../../..{__file__}")))


def test_marks_concern_earlier_layers_alone(tmp_path):
    lower = layer(("d", None), ("d/s", None), ("d/s/old", "1"), ("a", "1"))
    upper = layer(("d/s", None), ("d/s/new", "2"), ("d/.wh..wh..opq", ""), ("a", "2"), (".wh.a", ""))
    assert unpacked(tmp_path, lower, upper) == {"a": "2", "d": None, "d/s": None, "d/s/new": "2"}


@pytest.mark.parametrize("name", [".wh...", "a/.wh...", ".wh..", "a/.wh."])
def test_a_mark_removes_nothing_above_its_folder(tmp_path, name):
    with pytest.raises(Unavailable, match="is damaged"):
        unpacked(tmp_path / "image", layer(("a", None), (name, "")))
    assert (tmp_path / "image/root/a").is_dir()


def test_a_hard_link_to_a_link_is_that_link(tmp_path):
    found = unpacked(tmp_path, layer(("l", tarfile.SYMTYPE, "/nowhere/program"), ("h", tarfile.LNKTYPE, "l")))
    assert found == {"h": "-> /nowhere/program", "l": "-> /nowhere/program"}


def test_a_circle_of_links_is_damage(tmp_path):
    with pytest.raises(Unavailable, match="too many links"):
        unpacked(tmp_path, layer(("a", tarfile.SYMTYPE, "b"), ("b", tarfile.SYMTYPE, "a"), ("a/x", "1")))


def test_no_file_keeps_a_bit_that_changes_its_user(tmp_path):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, mode in (("sudo", 0o4755), ("closed", 0o000)):
            entry = tarfile.TarInfo(name)
            entry.mode = mode
            tar.addfile(entry)
        device = tarfile.TarInfo("null")
        device.type = tarfile.CHRTYPE
        tar.addfile(device)
    unpacked(tmp_path, made.getvalue())
    modes = {place.name: place.stat().st_mode & 0o7777 for place in (tmp_path / "root").iterdir()}
    assert modes == {"sudo": 0o755, "closed": 0o600}


@pytest.mark.parametrize("kind", [TAR, GZIP, ZSTD])
@pytest.mark.parametrize("damage", [lambda blob: blob[:-700], lambda blob: b"x" + blob[1:], lambda _: b""])
def test_a_damaged_layer_is_refused(tmp_path, kind, damage):
    place = layout(tmp_path / "layout", layer(("a", os.urandom(2000).hex())), kind=kind)
    manifest = json.loads((place / "index.json").read_text())["manifests"][0]["digest"]
    read = json.loads((place / "blobs" / manifest.replace(":", "/")).read_text())
    blob = place / "blobs" / read["layers"][0]["digest"].replace(":", "/")
    blob.write_bytes(damage(blob.read_bytes()))
    with pytest.raises(Unavailable, match="is damaged: its digest is sha256:") as caught:
        oci.unpack(place, tmp_path / "root")
    assert str(blob) in caught.value.hint


def test_a_layer_of_endless_zeros_is_refused(tmp_path, monkeypatch):
    """Some MB of a compressed layer fill any disk."""
    monkeypatch.setattr(oci, "UNPACKED_BYTES", 1 << 20)
    with pytest.raises(Unavailable, match="unpacked, it is larger than"):
        unpacked(tmp_path, layer(("a", "0" * 600_000)), layer(("b", "0" * 600_000)))
    assert not (tmp_path / "root" / "b").exists()


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_name_of_9_gb_is_not_read_into_memory(tmp_path, kind):
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, 9 << 30
    with pytest.raises(Unavailable, match="a header has 9663676416 bytes"):
        unpacked(tmp_path, header.tobuf(tarfile.GNU_FORMAT) + b"a" * 20_480)


def test_a_digest_that_is_a_path_is_no_digest(tmp_path):
    (made := tmp_path / "layout").mkdir()
    entry = {"digest": "sha256:../../../../../../../../../../dev/zero"}
    (made / "index.json").write_text(json.dumps({"manifests": [entry]}))
    with pytest.raises(Unavailable, match="that is no digest of SHA-256"):
        oci.unpack(made, tmp_path / "root")


def test_a_document_of_an_image_has_a_size(tmp_path, monkeypatch):
    monkeypatch.setattr(oci, "DOCUMENT_BYTES", 100)
    with pytest.raises(Unavailable, match="it is larger than"):
        unpacked(tmp_path, layer(), config={"Env": ["x" * 200]})


def test_a_layout_without_its_parts_is_refused(tmp_path):
    with pytest.raises(Unavailable, match="no complete image"):
        oci.unpack(tmp_path, tmp_path / "root")
    place = layout(tmp_path / "layout", layer(("a", "1")))
    for blob in (place / "blobs/sha256").iterdir():
        blob.unlink()
    with pytest.raises(Unavailable, match="is damaged: No such file"):
        oci.unpack(place, tmp_path / "root")


NAMES = st.sampled_from(["a", "b", "a/x", "a/y", "b/x", "a/x/1"])
STEPS = st.lists(
    st.lists(st.tuples(st.sampled_from(["file", "folder", "remove"]), NAMES), max_size=5), max_size=4
)


@given(STEPS)
def test_layers_add_up_as_the_standard_says(tmp_path_factory, steps):
    tmp_path = tmp_path_factory.mktemp("layers")
    wanted, layers = {}, []
    for number, step in enumerate(steps):
        entries, touched = [], set()
        for kind, name in step:
            # A layer has one entry for a name, and none below a name that it replaces or removes.
            if any(
                name == one or name.startswith(f"{one}/") or one.startswith(f"{name}/") for one in touched
            ):
                continue
            touched.add(name)
            parents = [name.rsplit("/", depth)[0] for depth in range(name.count("/"), 0, -1)]
            if kind == "remove":
                folder, _, last = name.rpartition("/")
                entries.append((f"{folder}/.wh.{last}" if folder else f".wh.{last}", ""))
                wanted = {
                    one: held
                    for one, held in wanted.items()
                    if one != name and not one.startswith(f"{name}/")
                }
                continue
            for parent in parents:
                if wanted.get(parent) is not None:
                    del wanted[parent]
                wanted.setdefault(parent, None)
            if kind == "file":
                wanted = {one: held for one, held in wanted.items() if not one.startswith(f"{name}/")}
                wanted[name] = str(number)
                entries.append((name, str(number)))
            else:
                if wanted.get(name) is not None:
                    del wanted[name]
                wanted[name] = None
                entries.append((name, None))
        layers.append(layer(*entries))
    assert unpacked(tmp_path, *layers) == wanted


@pytest.fixture
def cached(tmp_path):
    """Return a maker of an image in the cache: its request and its digest."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in (sandbox.PROGRAM, "crane"):
        executable(folder / name, "#!/bin/sh\nexit 0\n")
    request = Request(
        environment={"PATH": str(folder), "BENCHBOOK_CACHE": str(tmp_path / "cache")},
        image_lock=tmp_path / "lock",
    )

    def make(config=None, passwd="", **files):
        digest = "sha256:" + "1" * 64
        place = image._folder(digest, request)
        (place / "root/etc").mkdir(parents=True)
        (place / "root/etc/passwd").write_text(passwd)
        (place / "root/etc/group").write_text("staff:x:50:\n")
        for name in ("usr/bin/server", *files):
            (place / "root" / name).parent.mkdir(parents=True, exist_ok=True)
            (place / "root" / name).touch()
        (place / "image.json").write_text(json.dumps({"digest": digest, "config": config or {}}))
        return request, digest

    return make


def mysql(digest, **more):
    source = {"docker": {"image": "mysql:8", "digest": digest, "program": "/usr/bin/server", **more}}
    return system(name="mysql-8", driver="mysql", source=source)


@pytest.mark.parametrize(
    ("config", "passwd", "user"),
    [
        ({}, "", "0:0"),
        ({}, "mysql:x:999:998::/:/bin/sh\n", "999:998"),
        ({"User": "other"}, "mysql:x:999:998::/:/bin/sh\nother:x:5:6::/:/bin/sh\n", "5:6"),
        ({"User": "other:staff"}, "other:x:5:6::/:/bin/sh\n", "5:50"),
        ({"User": "7"}, "", "7:0"),
        ({"User": "7"}, "one:x:7:9::/:/bin/sh\n", "7:9"),
        ({"User": "7:8"}, "", "7:8"),
        ({"User": "7:staff"}, "", "7:50"),
    ],
)
def test_a_server_runs_as_the_user_of_its_image(cached, config, passwd, user):
    request, digest = cached(config, passwd)
    found = find(mysql(digest), request, only="image")
    assert found.container.user == user
    assert found.isolated
    assert (found.source, found.digest, found.path) == ("image", digest, Path("/usr/bin/server"))
    assert (found.root / "usr/bin/server").exists()


@pytest.mark.parametrize("user", ["nobody-here", "7:nogroup", "nobody-here:5"])
def test_a_user_that_the_image_does_not_have_is_told(cached, user):
    request, digest = cached({"User": user}, "mysql:x:999:998::/:/bin/sh\n")
    assert f"names {user} as its user, but has no such account" in image.find(mysql(digest), request).reason


def test_a_locked_tag_needs_no_answer_of_the_registry(cached, monkeypatch):
    request, digest = cached()
    monkeypatch.setattr(image, "latest_digest", lambda *_: pytest.fail("the registry was asked"))
    image_lock.of(request).add("mysql:8", digest, image_lock.FIRST_PULL)
    assert image.find(mysql(None), request).digest == digest


def test_an_image_of_the_user_is_not_locked(cached, monkeypatch):
    request, digest = cached()
    monkeypatch.setattr(image, "latest_digest", lambda *_: digest)
    image_lock.of(request).add("mysql:8", "sha256:" + "3" * 64, image_lock.FIRST_PULL)
    given = image.user_supplied(
        mysql(None), "--system", "mysql:8", "/usr/bin/server", ContainerSource(), request
    )
    assert given.digest == digest
    assert image_lock.of(request).digest("mysql:8") == "sha256:" + "3" * 64


def test_a_declared_user_and_limits_come_first(cached):
    request, digest = cached({"User": "7"})
    found = image.find(mysql(digest, user="3:4", memory="1GiB", cpus=1.5), request)
    assert (found.container.user, found.container.memory_bytes, found.container.cpus) == ("3:4", 1 << 30, 1.5)


@pytest.mark.parametrize(("key", "value"), [("network", "private"), ("cores", "0-1")])
def test_options_that_need_an_engine_are_told(cached, key, value):
    request, digest = cached()
    found = image.find(mysql(digest, **{key: value}), request)
    assert isinstance(found, Missing)
    assert f'image: {key} = "{value}" needs a container engine' in found.reason
    assert "docker.io" in found.command


def test_a_program_that_the_image_lacks_is_told(cached):
    request, digest = cached()
    found = image.find(mysql(digest, program="/usr/sbin/mysqld"), request)
    assert "has no program /usr/sbin/mysqld" in found.reason
    assert "systems/mysql-8.toml" in found.command


def test_a_program_by_its_name_is_found_on_the_path_of_the_image(cached):
    request, digest = cached({"Env": ["PATH=/opt/bin:/usr/bin"]}, **{"opt/bin/tool": ""})
    given = image.user_supplied(
        mysql(digest), "--system", f"mysql:8@{digest}", "tool", ContainerSource(), request
    )
    assert given.path == Path("/opt/bin/tool")


def test_the_preview_says_what_would_be_pulled_and_what_is_here(cached):
    request, digest = cached()
    assert "use the image mysql:8@sha256:1111" in image.preview(mysql(digest), request)
    text = image.preview(mysql("sha256:" + "2" * 64), request)
    assert text.startswith("pull the image mysql:8@sha256:2222")
    assert text.endswith("and run it without an engine")


def test_what_is_missing_is_told_with_the_command_that_gets_it(tmp_path):
    declared = mysql("sha256:" + "2" * 64)
    request = Request(environment={"PATH": str(tmp_path), "BENCHBOOK_CACHE": str(tmp_path)})
    found = image.preview(declared, request)
    assert (found.reason, found.command) == ("image: no bwrap on PATH", "sudo apt-get install bubblewrap")
    executable(tmp_path / "bwrap", "#!/bin/sh\nexit 0\n")
    found = image.preview(declared, request)
    assert found.reason == "image: no crane, skopeo or go on PATH to pull it"
    executable(tmp_path / "bwrap", "#!/bin/sh\necho bwrap: no >&2; exit 1\n")
    found = image.preview(declared, request)
    assert found.reason == "image: this machine allows no user namespaces (no)"
    assert "docker.io" in found.command


def test_a_registry_that_is_away_is_told_before_a_tool_is_built(cached, monkeypatch):
    request, _ = cached()
    away = Request(
        environment={**request.environment, image.MIRROR: "127.0.0.1:1"}, image_lock=request.image_lock
    )
    monkeypatch.setattr(go, "built", lambda *_: pytest.fail("a tool was built"))
    found = image.find(mysql("sha256:" + "2" * 64), away)
    assert "the registry 127.0.0.1:1 does not answer: Connection refused" in found.reason
    assert image.MIRROR in found.command


def test_every_declared_image_names_its_program():
    root = Path(__file__).resolve().parents[3] / "systems"
    import tomllib

    for file in sorted(root.glob("*.toml")):
        declared = System.model_validate(tomllib.loads(file.read_text()))
        assert declared.source.docker is None or declared.source.docker.program, file.name


def test_a_tag_means_its_locked_digest(tmp_path):
    lock = image_lock.Lock(tmp_path / "lock.json", tmp_path / "lock.json")
    lock.add("redis:7", "sha256:1", image_lock.FIRST_PULL)
    assert lock.wanted("redis:7") == "sha256:1"
    assert lock.wanted("redis:7@sha256:2") == "sha256:2"
    assert lock.wanted("redis:8") is None
