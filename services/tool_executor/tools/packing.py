"""Packing: files and folders of the staged view into one archive, the same bytes whenever it is done again.

Entries come in the order of their names, with the files' own times and modes and without owners; nothing in the
archive says when or where it was made.
"""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from posixpath import basename, commonpath, dirname, join, relpath
from typing import Any, BinaryIO, cast

from libs.errors import Rejected
from libs.skills import free_name
from libs.skills.categories import split_suffix
from libs.workspace import names
from libs.workspace.errors import Unreadable
from libs.workspace.operations import AnyOperation, Create, Delete
from libs.workspace.view import Node
from services.tool_executor.tools.listing import left_alone
from services.tool_executor.tools.tool_context import (
    CHUNK,
    READS_MOST,
    Args,
    ToolContext,
    ToolOutput,
    TooMuch,
    human,
    many,
    omitted,
    topmost,
)

FORMS = (".tar.gz", ".tgz", ".tar", ".zip")
FOREIGN = (".rar", ".7z", ".gz", ".bz2", ".xz", ".zst", ".lzma")
"""Archives that cannot be made here; to call a zip so would be a lie."""
PACKED = frozenset(
    f".{ending}"
    for kinds in (
        "7z bz2 gz rar tgz xz zip zst docx epub odt pptx xlsx",
        "gif heic jpeg jpg png webp",
        "aac flac m4a mp3 ogg avi m4v mkv mov mp4 webm",
    )
    for ending in kinds.split()
)
"""Endings of files that are compressed already."""
OLDEST, NEWEST = (1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58)
"""The years that a zip can tell."""
LEVEL = 6

Add = Callable[["Member", BinaryIO | None], None]


class CannotPack(Rejected):
    """This cannot be put into an archive whole; nothing was changed."""

    code = "CANNOT_PACK"


@dataclass(frozen=True, slots=True)
class Member:
    """A file or folder and its name in the archive."""

    node: Node
    name: str

    @property
    def seconds(self) -> int:
        return int(self.node.modified_at.timestamp()) if self.node.modified_at else 0


def pack_nodes(context: ToolContext, args: Args) -> ToolOutput:
    """Create an archive of the listed nodes, never over an existing name; with `remove`, delete what is in it."""
    if not args["paths"]:  # a list that found nothing, as a move of none
        return ToolOutput(
            {"archive": "", "files": 0, "bytes": 0, "packed_bytes": 0, "deleted": []}, "There was nothing to pack."
        )
    present = topmost(list(context.present(args["paths"], strict=len(args["paths"]) == 1)))
    remove = args.get("remove") is True
    unread: list[str] = []
    members = list(_members(context, present, unread, strict=remove))
    paths = [path for path in present if path not in unread]
    if not paths:
        raise Rejected(f"{unread[0]} cannot be read" if unread else "there is nothing to pack")
    archive = _archive(context, args.get("archive"), paths)
    if remove and any(path == "." or archive.startswith(f"{path}/") for path in paths):
        raise CannotPack(f"{archive} would be deleted with what is packed into it")
    made = context.making(dirname(archive) or ".")
    with context.stage.blob_cache.drafting() as draft:
        size = _written(context, members, archive, draft)
        packed = context.cached(draft)
    create = Create(path=archive, content=packed, reason=context.reason)
    deletes: list[AnyOperation] = [Delete(path=path, reason=context.reason) for path in paths] if remove else []
    applied = context.put([*made, create, *deletes])
    files = sum(member.node.kind == "file" for member in members)
    folders = [member.node.path for member in members if member.node.kind == "directory" and member.node.path in paths]
    if remove:
        gone: dict[str, Any] = {"deleted": paths, "kept_days": context.history_days, **omitted(unread=unread)}
    else:
        gone = {"deleted": [], **left_alone(context.stage, {"folders": folders}, recursive=True, unread=unread)}
    return ToolOutput(
        {
            "archive": archive,
            "files": files,
            "bytes": size,
            "packed_bytes": packed.size,
            **gone,
        },
        f"Packed {many(files, 'file')}, {human(size)}, into {archive} ({human(packed.size)}).",
        reads=tuple(dict.fromkeys((*paths, *(member.node.path for member in members))))[:READS_MOST],
        applied=applied,
        warnings=tuple(context.missing),
    )


def _archive(context: ToolContext, asked: str | None, paths: Sequence[str]) -> str:
    """Return the path of the archive, with an extension and an unused name."""
    usual = f"{_stem(context, paths[0])}.zip" if len(paths) == 1 and paths[0] != "." else "Archive.zip"
    path = context.within(asked) if asked else _top(paths) or "."
    if context.is_folder(path):
        path = join("" if path == "." else path, usual)
    if path.lower().endswith(FOREIGN) and not path.lower().endswith(FORMS):
        raise CannotPack(f"{basename(path)}: only {', '.join(FORMS)} can be made here")
    if not path.lower().endswith(FORMS):
        path += ".zip"
    name = free_name(basename(path), context.names_in(dirname(path) or "."))
    return join(dirname(path), name)


def _stem(context: ToolContext, path: str) -> str:
    """Return `notes` for `a/notes.txt`, `.env` for `.env`, `v1.2` for a folder of that name."""
    return basename(path) if context.is_folder(path) else split_suffix(basename(path))[0]


def _top(paths: Sequence[str]) -> str:
    """Return the folder that contains all of them; "" for the workspace."""
    return "" if "." in paths else commonpath([dirname(path) for path in paths])


def _members(context: ToolContext, paths: Sequence[str], unread: list[str], *, strict: bool) -> Iterator[Member]:
    """Yield all members; add what cannot be read to `unread`. Links and devices are left out, and then nothing may be
    deleted.
    """
    top, seen = _top(paths), 0
    for path in paths:
        for node in (context.stage.get_metadata(path), *_below(context, path)):
            context.check()
            if node.kind not in ("file", "directory"):
                what = "a folder that stays whole" if node.is_folder else "a link or a device"
                if strict:
                    raise CannotPack(f"{node.path} is {what} and would be lost")
                context.missing.append(f"{node.path} is {what} and was left out.")
                continue
            if not _readable(context, node):
                if strict and node.path not in paths:
                    raise CannotPack(f"{node.path} cannot be read and would be lost")
                context.missing.append(f"{node.path} cannot be read and was left out.")
                unread.append(node.path)
                continue
            if node.left_alone and node.path not in paths and not strict:
                continue
            seen += 1
            if seen > (most := context.limits.archive_entries_most):
                raise TooMuch(f"an archive made here holds at most {most} files and folders")
            if node.path != ".":
                yield Member(node, relpath(node.path, top or "."))


def _below(context: ToolContext, path: str) -> Iterator[Node]:
    node = context.stage.get_metadata(path)
    if node.kind == "directory" and _readable(context, node):
        yield from context.stage.walk(path)


def _readable(context: ToolContext, node: Node) -> bool:
    if node.kind == "directory":
        return not context.stage.tree.sealed or context.stage.locate(node.path) not in context.stage.tree.sealed
    try:
        with context.opened(node.path):
            return True
    except Unreadable:
        return False


def _written(context: ToolContext, members: Sequence[Member], archive: str, draft: BinaryIO) -> int:
    """Write the archive; the bytes that went in."""
    try:
        return _filled(context, members, archive, draft)
    except OSError as error:
        raise CannotPack(f"the archive could not be written: {error.strerror or error}") from error


def _filled(context: ToolContext, members: Sequence[Member], archive: str, draft: BinaryIO) -> int:
    total = 0
    with _writer(archive, draft) as add:
        for member in sorted(members, key=lambda member: member.name):
            context.check()
            if member.node.kind == "directory":
                add(member, None)
                continue
            total += member.node.size
            if total > context.limits.archive_bytes_most:
                raise TooMuch(f"more than {human(context.limits.archive_bytes_most)} would be packed")
            with context.opened(member.node.path) as content:
                add(member, cast(BinaryIO, _Checked(content, context.check)))
    return total


@dataclass
class _Checked:
    """Content that is read only while the call is wanted."""

    content: BinaryIO
    check: Callable[[], None]

    def read(self, size: int = -1) -> bytes:
        self.check()
        return self.content.read(size)


@contextmanager
def _writer(archive: str, draft: BinaryIO) -> Iterator[Add]:
    lower = archive.lower()
    if lower.endswith(".zip"):
        with zipfile.ZipFile(draft, "w") as into:
            yield lambda member, content: _zip(into, member, content)
    elif lower.endswith(".tar"):
        with _tarred(draft) as tar:
            yield lambda member, content: tar.addfile(_entry(member), content)
    else:
        # Without a name and a time in its header, the same files make the same archive.
        with gzip.GzipFile("", "wb", LEVEL, draft, mtime=0) as packed, _tarred(packed) as tar:
            yield lambda member, content: tar.addfile(_entry(member), content)


def _tarred(into: Any) -> tarfile.TarFile:
    return tarfile.open(fileobj=into, mode="w|", format=tarfile.PAX_FORMAT, encoding="utf-8", errors="surrogateescape")


def _zip(into: zipfile.ZipFile, member: Member, content: BinaryIO | None) -> None:
    when = time.gmtime(member.seconds)[:6]
    info = zipfile.ZipInfo(_utf8(member) + ("/" if content is None else ""), max(OLDEST, min(NEWEST, when)))
    kind = stat.S_IFDIR if content is None else stat.S_IFREG
    info.create_system, info.external_attr = 3, (kind | member.node.mode & 0o777) << 16
    if content is None:
        info.external_attr |= 0x10
        into.writestr(info, b"")
        return
    info.compress_type = zipfile.ZIP_STORED if member.node.extension in PACKED else zipfile.ZIP_DEFLATED
    # Said beforehand, so that a file of more than two gigabytes gets the longer header.
    info.file_size = member.node.size
    with into.open(info, "w") as entry:
        shutil.copyfileobj(content, entry, CHUNK)


def _utf8(member: Member) -> str:
    try:
        return names.decode(member.name).decode()
    except UnicodeDecodeError as error:
        raise CannotPack(f"{member.node.path} has a name that is not UTF-8, which a zip cannot hold") from error


def _entry(member: Member) -> tarfile.TarInfo:
    info = tarfile.TarInfo(os.fsdecode(names.decode(member.name)))
    info.mode, info.mtime = member.node.mode & 0o777, member.seconds
    if member.node.kind == "directory":
        info.type = tarfile.DIRTYPE
    else:
        info.size = member.node.size
    return info
