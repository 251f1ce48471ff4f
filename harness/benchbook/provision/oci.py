"""Unpack an image from an OCI image layout (https://github.com/opencontainers/image-spec) into a folder.

Every file of the layout is named by its digest, which is verified while it is read. The folder belongs to the user who
unpacks: owners, device files and the bits that change a user are left out.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import re
import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, Any, Self, cast

from benchbook.errors import Unavailable
from benchbook.process.sandbox import inside

REMOVED, EMPTIED = ".wh.", ".wh..wh..opq"
"""Names in a layer: prefix of a file that it removes, and the mark of a folder that hides those of earlier layers."""
BUFFER_BYTES = 1 << 20
DOCUMENT_BYTES = 16 << 20
"""Largest manifest or configuration; real ones have some kB."""
NAME_BYTES = 1 << 20
"""Largest extended header of a file in a layer, which holds its name."""
UNPACKED_BYTES = 64 << 30
"""Largest image, unpacked; that of Oracle has 8 GB. A small layer can be compressed from any number of zeros."""
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def unpack(layout: Path, into: Path) -> dict[str, Any]:
    """Unpack the only image of a layout into an empty folder and return its configuration.

    Raise Unavailable if a file of the layout is missing or damaged, and OSError if the folder cannot be written.
    """
    manifest = _manifest(layout)
    into.mkdir()
    left = UNPACKED_BYTES
    for layer in manifest["layers"]:
        with _Verified(layout, layer["digest"]) as blob:
            left = _apply(blob, str(layer["mediaType"]), into, left)
    return _document(layout, manifest["config"]["digest"])


def _manifest(layout: Path) -> dict[str, Any]:
    try:
        (entry,) = json.loads((layout / "index.json").read_text(encoding="utf-8"))["manifests"]
        return _document(layout, entry["digest"])
    except (OSError, ValueError, KeyError) as error:
        raise Unavailable(
            f"{layout} is no complete image: {error}.", f"Remove it with: rm -r {layout}"
        ) from error


def _document(layout: Path, digest: str) -> dict[str, Any]:
    with _Verified(layout, digest) as blob:
        text = blob.read(DOCUMENT_BYTES)
        if blob.read(1):
            raise ValueError(f"it is larger than {DOCUMENT_BYTES >> 20} MiB")
        found: dict[str, Any] = json.loads(text)
    return found


class _Verified:
    """A file of a layout, hashed while it is read; its end in a ``with`` reads the rest and compares the digest."""

    closed = False

    def __init__(self, layout: Path, digest: str) -> None:
        self._digest = digest
        self._file = layout / "blobs" / digest.replace(":", "/")
        self._hash = hashlib.sha256()

    def __enter__(self) -> Self:
        if not _DIGEST.fullmatch(self._digest):
            raise self._broken("that is no digest of SHA-256")
        try:
            self._opened = self._file.open("rb")
        except OSError as error:
            raise self._broken(error.strerror or str(error)) from error
        return self

    def read(self, size: int = -1) -> bytes:
        part = self._opened.read(size)
        self._hash.update(part)
        return part

    def close(self) -> None:
        """Do nothing: a reader that closes the file has not read all of it."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        circle = isinstance(error, OSError) and error.errno == errno.ELOOP
        if error is None or circle or isinstance(error, _BROKEN):
            while self.read(BUFFER_BYTES):
                pass
            found = f"sha256:{self._hash.hexdigest()}"
            self._opened.close()
            if found != self._digest:
                raise self._broken(f"its digest is {found}") from error
            if error is not None:
                raise self._broken(str(error) or type(error).__name__) from error
        self._opened.close()

    def _broken(self, reason: str) -> Unavailable:
        return Unavailable(
            f"the part {self._digest} of the image is damaged: {reason}.", f"Remove it with: rm {self._file}"
        )


_BROKEN = (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, ValueError)
"""What damaged layers and documents raise."""


_HEADERS = (
    tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
)  # fmt: skip


class _Entry(tarfile.TarInfo):
    """A file of a layer; ``tarfile`` would read a name of any length into memory."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _HEADERS and self.size > NAME_BYTES:
            raise tarfile.ReadError(f"a header has {self.size} bytes")
        return super()._proc_member(archive)  # type: ignore[misc,no-any-return]


def _apply(blob: _Verified, kind: str, root: Path, left: int) -> int:
    """Apply one layer: add and replace its files, remove those that it marks.

    Raise TarError if they have more than ``left`` bytes; return what is left of that.
    """
    new: set[Path] = set()
    with tarfile.open(fileobj=_plain(blob, kind), mode="r|", tarinfo=_Entry) as layer:
        for entry in layer:
            left -= entry.size
            if left < 0:
                raise tarfile.TarError(f"unpacked, it is larger than {UNPACKED_BYTES >> 30} GiB")
            name = PurePosixPath(entry.name)
            if not [part for part in name.parts if part not in ("/", ".")]:
                continue
            place = inside(root, entry.name, last=False)
            if place == root:
                raise tarfile.TarError(f"{entry.name} replaces the root")
            if name.name == EMPTIED:
                _hide(place.parent, new)
            elif name.name.startswith(REMOVED):
                removed = name.name.removeprefix(REMOVED)
                if removed in ("", ".", ".."):
                    raise tarfile.TarError(f"{entry.name} removes no file")
                if (hidden := place.with_name(removed)) not in new:
                    _remove(hidden)
            else:
                _make_parents(root, place)
                _add(layer, entry, place, root)
                new.add(place)
    return left


def _hide(folder: Path, new: set[Path]) -> None:
    """Remove what earlier layers have in a folder; ``new`` is what this layer has added."""
    for old in folder.iterdir() if folder.is_dir() and not folder.is_symlink() else ():
        if old in new or any(old in one.parents for one in new):
            _hide(old, new)
        else:
            _remove(old)


def _plain(blob: _Verified, kind: str) -> IO[bytes]:
    """Return the uncompressed layer."""
    file = cast("IO[bytes]", blob)  # those who read it here only call read
    if kind.endswith("gzip"):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    if kind.endswith("zstd"):
        return cast("IO[bytes]", _Zstandard(file))
    return file


class _Zstandard:
    """A file compressed by zstd, which Python's library does not read."""

    def __init__(self, file: IO[bytes]) -> None:
        import pyarrow as pa

        self._stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")

    def read(self, size: int = -1) -> bytes:
        try:
            return bytes(self._stream.read(None if size < 0 else size))
        except OSError as error:
            raise tarfile.ReadError(str(error)) from error


def _make_parents(root: Path, place: Path) -> None:
    for parent in reversed(place.relative_to(root).parents[:-1]):
        folder = root / parent
        if not folder.is_dir():
            _remove(folder)
            folder.mkdir()


def _add(layer: tarfile.TarFile, entry: tarfile.TarInfo, place: Path, root: Path) -> None:
    mode = entry.mode & 0o777
    if entry.isdir():
        if place.is_symlink() or not place.is_dir():
            _remove(place)
            place.mkdir()
        place.chmod(mode | 0o700)  # its owner, the cache, can always remove it
        return
    _remove(place)
    if entry.issym():
        place.symlink_to(entry.linkname)
    elif entry.islnk():
        same = inside(root, entry.linkname, last=False)
        if not (same.is_symlink() or same.is_file()):
            raise tarfile.TarError(f"{entry.name} links to {entry.linkname}, which the image does not have")
        os.link(same, place, follow_symlinks=False)
    elif entry.isreg():
        content = layer.extractfile(entry)
        assert content is not None
        with place.open("wb") as file:
            shutil.copyfileobj(content, file, BUFFER_BYTES)
        place.chmod(mode | 0o600)


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    elif os.path.lexists(place):
        place.unlink()
