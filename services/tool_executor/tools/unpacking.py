"""Archives from anywhere: what they hold, and how it comes out. Nothing that an archive says of itself is believed.

Names are checked before anything is written; bytes are counted as they come out, not as the headers promise; and
whatever is wrong with one entry refuses the whole (decision 0027).
"""

from __future__ import annotations

import bz2
import gzip
import os
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from posixpath import basename, dirname, join
from typing import Any, BinaryIO, Literal

from libs.errors import Rejected
from libs.guards.paths import within
from libs.skills import free_name
from libs.skills.categories import split_suffix
from libs.texts import quoted
from libs.workspace import names
from libs.workspace.operations import INLINE_MAX, Create, Inline
from libs.workspace.scope import checked_name, resolve
from services.tool_executor.tools.tool_context import (
    CHUNK,
    READS_MOST,
    Args,
    ToolContext,
    ToolOutput,
    TooMuch,
    human,
    many,
)

READ_MOST = 8 << 20
"""Bytes of one look into an archive, such as the list of its entries: more is no list."""
HEADER_MOST = 1 << 20
"""Bytes of an extended header of a tar."""
RATIO_FROM = 10_000_000
INLINE_EACH, INLINE_ALL = 4 * 1024, 1 << 20
"""Content that travels with the operation; the operations of one archive are one row."""
ANCHOR = "/archive"
UTF8, UNICODE_PATH = 0x800, 0x7075
DRIVE = re.compile(r"[A-Za-z]:(/|\\\\|$)")
"""The top of a drive of Windows, as the workspace spells paths."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
UNSUPPORTED = {9: "Deflate64", 93: "Zstandard", 95: "XZ", 98: "PPMd", 99: "AES encryption"}
"""Methods of APPNOTE.TXT 4.4.5 that programs write, besides those above."""
USABLE = 0o600
"""The mode of an unpacked file: its owner may always read it."""

Form = Literal["zip", "tar", "tar.gz", "tar.bz2"]


class BadArchive(Rejected):
    """The archive cannot be unpacked; nothing was changed."""

    code = "BAD_ARCHIVE"


class UnsafeArchive(BadArchive):
    """Unpacking this archive could write outside its folder or fill the disk."""

    code = "UNSAFE_ARCHIVE"


@dataclass(frozen=True, slots=True)
class Entry:
    """One file or folder in an archive, by a name that is checked. `size` is what the archive says."""

    path: str
    size: int
    directory: bool
    mode: int | None
    mtime_ns: int | None


Read = Callable[[int], bytes]


def archive_contents(context: ToolContext, args: Args) -> ToolOutput:
    """List an archive's entries with the sizes that it states; nothing is unpacked."""
    node = context.file(args["path"])
    with context.opened(node.path) as stream:
        files = [entry for entry in listed(context, stream, node.name) if not entry.directory]
    total = sum(entry.size for entry in files)
    return ToolOutput(
        {
            "entries": [{"path": entry.path, "size": entry.size} for entry in files],
            "files": len(files),
            "bytes": total,
        },
        f"{node.path} holds {many(len(files), 'file')}, {human(total)}.",
        reads=(node.path,),
    )


def unpack_archive(context: ToolContext, args: Args) -> ToolOutput:
    """All that an archive holds, into a folder of its own or straight into one that is there. Whole or not at all."""
    node = context.file(args["path"])
    stem = split_suffix(node.name)[0]
    stem = stem if stem != node.name else f"{stem} (unpacked)"
    with context.opened(node.path) as stream:
        taken = list(_taken(context, stream, node.name, node.size))
    straight = args.get("straight") is True
    if straight or not args.get("target"):
        taken = _without_top(taken, stem)
    target = _target(context, args.get("target"), node.path, stem, straight=straight)
    taken = _beside_others(context, taken, target) if straight else taken
    folders = [made for made in _folders(taken, target, context.reason) if not context.exists(made.path)]
    made = [*context.making(target), *folders, *_files(taken, target, context.reason)]
    applied = context.put(made)
    files = [each.path for each in made if not each.directory]
    total = sum(size for _, _, size in taken)
    return ToolOutput(
        {"created": files, "files": len(files), "bytes": total, "target": target},
        f"Unpacked {many(len(files), 'file')}, {human(total)}, into {target}.",
        reads=(node.path, *files)[:READS_MOST],
        applied=applied,
    )


def listed(context: ToolContext, stream: BinaryIO, name: str) -> list[Entry]:
    """Return the entries, each with a checked name. Raises `BadArchive`, `TooMuch`."""
    with _opened(context, stream, name) as found:
        return [entry for entry, _ in found]


def form_of(head: bytes) -> Form | Literal["gzip"] | None:
    """By the first bytes, not by the name."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"BZh"):
        return "tar.bz2"
    return "tar" if head[257:262] == b"ustar" else None


Taken = tuple[Entry, Any, int]
"""An entry, its content (None for a folder), and its true size."""


def _taken(context: ToolContext, stream: BinaryIO, name: str, packed: int) -> Iterator[Taken]:
    """Each entry with its content, counted as it comes out."""
    total, held = 0, 0
    with _opened(context, stream, name) as found:
        for entry, read in found:
            if entry.directory:
                yield entry, None, 0
                continue
            with context.stage.blob_cache.drafting() as draft:
                while piece := read(CHUNK):
                    context.check()
                    total += len(piece)
                    _bounded(context, total, packed)
                    draft.write(piece)
                size = draft.tell()
                if size <= INLINE_EACH and held + size <= INLINE_ALL:
                    held += size
                    draft.seek(0)
                    yield entry, Inline.of(draft.read(INLINE_MAX)), size
                else:
                    yield entry, context.cached(draft), size


def _bounded(context: ToolContext, total: int, packed: int) -> None:
    if total > context.limits.archive_bytes_most:
        raise TooMuch(f"more than {human(context.limits.archive_bytes_most)} would be unpacked, which is the limit")
    if total > RATIO_FROM and total > packed * (most := context.limits.archive_ratio_most):
        raise UnsafeArchive(f"for safety, nothing was unpacked: it expands to more than {most} times its size")


@contextmanager
def _opened(context: ToolContext, stream: BinaryIO, name: str) -> Iterator[Iterable[tuple[Entry, Read]]]:
    """Yield the entries in order, each with a reader that is valid while the entry is current."""
    head = stream.read(512)
    stream.seek(0)
    form = form_of(head) or ("tar" if name.lower().endswith(".tar") else None)
    if form is None:
        raise BadArchive(f"{name} is not an archive that can be read here (zip, tar, tar.gz, tar.bz2)")
    try:
        if form == "zip":
            with zipfile.ZipFile(_Frugal(stream)) as packed:
                yield _once(context, _zipped(context, packed))
        else:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            plain: Any = _Counted(context, _plain(form, stream), size)
            # In order and once: to seek back in a compressed tar would expand it again for each entry.
            with tarfile.open(fileobj=plain, mode="r|", tarinfo=_Header) as tar:
                yield _once(context, _tarred(context, tar))
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError) as error:
        raise BadArchive(f"{name} is damaged or not an archive: {error}") from error
    except (OSError, RuntimeError, ValueError, OverflowError) as error:
        # gzip, bz2, a password and a feature that zipfile lacks show themselves so.
        raise BadArchive(f"{name} cannot be read: {error}") from error


def _plain(form: str, stream: BinaryIO) -> Any:
    match form:
        case "gzip":
            return gzip.GzipFile(fileobj=stream, mode="rb")
        case "tar.bz2":
            return bz2.BZ2File(stream, "rb")
        case _:
            return stream


def _once(context: ToolContext, found: Iterator[tuple[Entry, Read]]) -> Iterator[tuple[Entry, Read]]:
    """No name twice, nothing inside a file, and not too many."""
    kinds: dict[str, bool] = {}
    for number, (entry, read) in enumerate(found, 1):
        context.check()
        if number > context.limits.archive_entries_most:
            raise TooMuch(f"an archive may hold at most {context.limits.archive_entries_most} files and folders here")
        if entry.path in kinds and not (entry.directory and kinds[entry.path]):
            raise BadArchive(f"it contains {entry.path} twice")
        for above in names.lineage(entry.path)[1:]:
            if kinds.setdefault(above, True) is False:
                raise BadArchive(f"{above} is a file and a folder in it")
        if entry.path not in kinds or not entry.directory:
            kinds[entry.path] = entry.directory
        yield entry, read


def _zipped(context: ToolContext, packed: zipfile.ZipFile) -> Iterator[tuple[Entry, Read]]:
    for info in packed.infolist():
        if info.flag_bits & 0x1:
            raise BadArchive("it is protected by a password")
        kind = info.external_attr >> 28
        if info.create_system == 3 and kind not in (0, 0o10, 0o04):
            raise UnsafeArchive(f"for safety, nothing was unpacked: {_shown(info.filename)} is a link or a device")
        said = _said(info)
        path = _named(said.encode())
        if path is None:
            continue
        mode = ((info.external_attr >> 16) & 0o777 if info.create_system == 3 else 0) or None
        entry = Entry(path, info.file_size, said.endswith("/"), mode and mode | USABLE, _moment(info.date_time))
        yield entry, _Zipped(packed, info).read


def _said(info: zipfile.ZipInfo) -> str:
    """Return an entry's name: as UTF-8 where it is flagged, in its Unicode field, or valid; else as code page 437.

    The field is that of APPNOTE.TXT 4.6.9. Archives of Windows may part folders by a backslash. In a name of another
    code page that byte may be the second half of a letter.
    """
    name = info.orig_filename
    if not info.flag_bits & UTF8:
        raw = name.encode("cp437")
        try:
            name = (_unicode_path(info.extra, raw) or raw).decode()
        except UnicodeDecodeError:
            return name
    return name.replace("\\", "/") if info.create_system == 0 else name


def _unicode_path(extra: bytes, raw: bytes) -> bytes | None:
    """Return the name in the Unicode field, unless the field belongs to an earlier name of the entry."""
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == UNICODE_PATH and field[1:5] == struct.pack("<I", zlib.crc32(raw)):
            return field[5:]
    return None


def _tarred(context: ToolContext, tar: tarfile.TarFile) -> Iterator[tuple[Entry, Read]]:
    for info in tar:
        if not (info.isreg() or info.isdir()) or info.issparse():
            raise UnsafeArchive(
                f"for safety, nothing was unpacked: {_shown(info.name)} is a link, a device or a sparse file"
            )
        path = _named(os.fsencode(info.name))
        if path is None:
            continue
        mtime_ns, mode = _nanoseconds(info.mtime), info.mode & 0o777 | USABLE
        entry = Entry(path, info.size, info.isdir(), mode, mtime_ns)
        content = None if info.isdir() else tar.extractfile(info)
        yield entry, content.read if content else BytesIO().read


def _shown(raw: bytes | str) -> str:
    return quoted((raw if isinstance(raw, str) else raw.decode("utf-8", "replace"))[:80])


def _named(raw: bytes) -> str | None:
    """Return an entry's path as the workspace spells it; None for the archive's own top (`./`)."""
    text = names.encode(raw) if b"\0" not in raw else ""
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if text.startswith("/") or DRIVE.match(text) or ".." in parts or not text:
        raise UnsafeArchive(f"for safety, nothing was unpacked: {_shown(raw)} would be written outside its folder")
    try:
        within(ANCHOR, f"./{text}")
        path = "/".join(checked_name(part) for part in resolve(Path(ANCHOR), "/".join(parts) or "."))
    except Rejected as error:
        raise UnsafeArchive(f"for safety, nothing was unpacked: {_shown(raw)} is not a valid name: {error}") from error
    return path or None


def _without_top(taken: list[Taken], stem: str) -> list[Taken]:
    """Drop a single top folder that has the archive's name, so that it is not nested twice."""
    if not taken or any(entry.path.split("/")[0] != stem for entry, _, _ in taken):
        return taken
    if any(entry.path == stem and not entry.directory for entry, _, _ in taken):
        return taken
    inner = [(entry, content, size) for entry, content, size in taken if "/" in entry.path]
    return [
        (Entry(entry.path.partition("/")[2], entry.size, entry.directory, entry.mode, entry.mtime_ns), content, size)
        for entry, content, size in inner
    ]


def _beside_others(context: ToolContext, taken: Iterable[Taken], target: str) -> list[Taken]:
    """Each file under a name that is free where it goes; folders of one name become one."""
    used: dict[str, set[str]] = {}
    placed: list[Taken] = []
    for entry, content, size in taken:
        above, name = dirname(entry.path), basename(entry.path)
        folder = _joined(target, above)
        for path in names.lineage(_joined(target, entry.path) if entry.directory else folder):
            if context.exists(path) and not context.is_folder(path):
                raise BadArchive(f"{path} is a folder in it, and a file there")
        if not entry.directory:
            name = free_name(name, used.setdefault(folder, context.names_in(folder)))
            used[folder].add(name)
        placed.append((replace(entry, path=join(above, name)), content, size))
    return placed


def _joined(target: str, path: str) -> str:
    return (join(target, path) if target != "." else path) or target


def _target(context: ToolContext, asked: str | None, archive: str, stem: str, *, straight: bool) -> str:
    """Return a folder that does not exist yet; in an existing one with contents, a new one, unless `straight`."""
    if straight:
        return context.within(asked) if asked else dirname(archive) or "."
    path = context.within(asked) if asked else join(dirname(archive), stem)
    if asked and context.is_folder(path):
        if context.stage.is_empty(path) and path != ".":
            return path
        path = join("" if path == "." else path, stem)
    name = free_name(basename(path), context.names_in(dirname(path) or "."))
    return join(dirname(path), name)


def _folders(taken: Iterable[Taken], target: str, reason: str) -> Iterator[Create]:
    """Every folder that the entries name or need, those above first."""
    said = {path for entry, _, _ in taken for path in names.lineage(entry.path)[0 if entry.directory else 1 :]}
    for path in sorted(said, key=lambda path: (path.count("/"), path)):
        yield Create(path=_joined(target, path), directory=True, reason=reason)


def _files(taken: Iterable[Taken], target: str, reason: str) -> Iterator[Create]:
    for entry, content, _ in taken:
        if not entry.directory:
            path, mode = _joined(target, entry.path), entry.mode
            yield Create(path=path, content=content, mode=mode, mtime_ns=entry.mtime_ns, reason=reason)


def _moment(date: tuple[int, int, int, int, int, int]) -> int | None:
    """Return a zip entry's time, taken as UTC; None if it is invalid."""
    try:
        return int(datetime(*date, tzinfo=UTC).timestamp()) * 1_000_000_000
    except ValueError:
        return None


def _nanoseconds(seconds: float) -> int | None:
    """Return a tar entry's time; None if no file can have it."""
    try:
        ns = int(seconds * 1_000_000_000)
    except (OverflowError, ValueError):
        return None
    return ns if -(1 << 63) <= ns < 1 << 63 else None


@dataclass
class _Zipped:
    """The content of an entry of a zip, opened when it is first read."""

    packed: zipfile.ZipFile
    info: zipfile.ZipInfo
    content: Any = None

    def read(self, size: int) -> bytes:
        if self.content is None:
            method = self.info.compress_type
            if method not in METHODS:
                named = UNSUPPORTED.get(method) or f"method {method}"
                raise BadArchive(f"it is compressed with {named}, which cannot be unpacked here; use another program")
            self.content = self.packed.open(self.info)
        piece: bytes = self.content.read(size)
        return piece


@dataclass
class _Frugal:
    """A stream that refuses large reads: the sizes in an archive's list of entries are not trusted."""

    stream: BinaryIO

    def read(self, size: int = -1) -> bytes:
        at = self.stream.tell()
        left = self.stream.seek(0, os.SEEK_END) - at
        self.stream.seek(at)
        if (left if size < 0 else min(size, left)) > READ_MOST:
            raise UnsafeArchive("for safety, nothing was unpacked: its list of entries is too large")
        return self.stream.read(size)

    def seek(self, to: int, whence: int = 0) -> int:
        return self.stream.seek(to, whence)

    def tell(self) -> int:
        return self.stream.tell()

    def seekable(self) -> bool:
        return True


@dataclass
class _Counted:
    """The expanded bytes of a compressed tar, skipped ones included."""

    context: ToolContext
    stream: Any
    packed: int
    total: int = 0

    def read(self, size: int) -> bytes:
        self.context.check()
        piece: bytes = self.stream.read(size)
        self.total += len(piece)
        # The headers and the padding of small files are not what a bomb is made of.
        _bounded(self.context, self.total - 2048 * self.context.limits.archive_entries_most, self.packed)
        return piece


class _Header(tarfile.TarInfo):
    """A header of a tar. An extended one is read whole into memory, so its size is bounded."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        extended = self.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
        if (extended or self.type in tarfile.GNU_TYPES) and self.size > HEADER_MOST:
            raise UnsafeArchive("for safety, nothing was unpacked: a header in it is too large")
        found: tarfile.TarInfo = super()._proc_member(tar)  # type: ignore[misc]
        return found
