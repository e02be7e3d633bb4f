"""The scratch tree: a copy of a staged view that commands may change, and their changes as operations for the stage.

`bring` makes the folder equal to the view before a command, `changes` reads it after. No command sees the real folder,
and its changes have no effect on the host before a person has approved the staged operations. All that it wrote is read
as hostile: opened beneath the folder without following any link, copied once, and judged by the copy. All of this
blocks: callers run it in threads, while no command runs.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from libs.errors import Rejected
from libs.sandbox.ports import Limits
from libs.sandbox.quota import owner
from libs.workspace import names, reserved
from libs.workspace.blob_cache import BlobCache
from libs.workspace.errors import Unreadable
from libs.workspace.operations import INLINE_MAX, AnyOperation, Blob, Content, Create, Delete, Inline, Move, Write
from libs.workspace.safe_dir import FOLDER, LISTED, SafeDir
from libs.workspace.signature import Signature, kind_of
from libs.workspace.tree import ROOT
from libs.workspace.view import Original, View

CHUNK = 1 << 20
DEEPEST = 128
"""Most levels of folders: each path is resolved from the top, so a deep tree costs its square."""
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
SPECIAL = stat.S_ISUID | stat.S_ISGID
GUARDED = frozenset(
    """
    .sumaignore .gitmodules .githooks .husky .envrc .vscode .idea .devcontainer .mcp.json .claude .codex .cursor .gemini
    """.split()  # noqa: SIM905 -- a list to read
)
"""Names from which programs of the host take settings, hooks or skills. A command neither sees nor changes them."""


class TooLarge(Rejected):
    """The workspace is larger than a sandbox may hold; work in one of its folders."""

    code = "TOO_LARGE_FOR_SANDBOX"


class TooDeep(Rejected):
    """A command made folders that are nested too deeply to be removed one by one; use another scratch folder."""

    code = "TOO_DEEP_FOR_SANDBOX"


@dataclass(frozen=True)
class Refusal:
    """A change by a command that does not become an operation."""

    path: str
    reason: str


@dataclass(frozen=True)
class Changes:
    """The operations that turn the staged view into what a command left, in an order in which a stage takes them."""

    operations: Sequence[AnyOperation] = ()
    refused: Sequence[Refusal] = ()


@dataclass(frozen=True)
class _Known:
    """An entry that `bring` put there: its signature, where it came from, and the SHA-256 of a file."""

    signature: Signature
    source: Hashable
    sha256: str = ""


@dataclass
class _Found:
    """One walk over the folder."""

    stats: dict[str, os.stat_result] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)
    closed: set[str] = field(default_factory=set)
    """Folders that could not be read, so nothing is known of what is below."""


def guarded(path: str) -> bool:
    """Return whether a name in the path belongs to the host alone."""
    return any(reserved.hidden(part) or part in GUARDED for part in path.split("/"))


class Scratch:
    """A session's scratch folder, empty and of its own at first."""

    def __init__(self, folder: Path, limits: Limits, reason: str = "") -> None:
        self.folder = folder
        self._limits, self._reason = limits, reason
        self._known: dict[str, _Known] = {}

    def bring(self, view: View) -> Sequence[Refusal]:
        """Make the folder equal to the view; return what is left out. Only differences are written.

        Raises:
            TooLarge: it has more files or bytes than the limits.
            Changed: a file of the workspace was changed since it was scanned.
        """
        wanted, left_out = self._wanted(view)
        with SafeDir.open(self.folder) as safe_dir:
            kept = self._clear(safe_dir, view, wanted)
            known = dict[str, _Known]()
            for path, node in wanted.items():
                try:
                    known[path] = self._known[path] if path in kept else self._put(safe_dir, path, view, node)
                except Unreadable as error:
                    left_out.append(Refusal(path, str(error)))
        self._known = known
        return left_out

    def changes(self, cache: BlobCache, keep: Callable[[BinaryIO], Blob] | None = None) -> Changes:
        """Return what commands changed since `bring`. The contents are in the cache when this returns.

        `keep` puts a large content there, and may refuse it (Rejected).
        """
        with SafeDir.open(self.folder) as safe_dir:
            found = _walk(safe_dir)
            changed = {path: one for path, one in found.stats.items() if not self._is_known(path, one)}
            copies = dict(self._copies(safe_dir, changed, found.refused, cache, keep or cache.put))
        gone = [path for path in self._known if path not in found.stats and not _below(path, found.closed)]
        folders = {path: one for path, one in changed.items() if stat.S_ISDIR(one.st_mode)}
        operations = self._operations(changed, folders, copies, gone)
        return Changes(tuple(operations), tuple(found.refused))

    def _wanted(self, view: View) -> tuple[dict[str, int], list[Refusal]]:
        wanted: dict[str, int] = {}
        left_out: list[Refusal] = []
        size = 0
        for node in view.tree.beneath(ROOT):
            path, kind = view.tree.path(node), view.tree.kind(node)
            if node == ROOT or guarded(path):
                continue
            if kind in reserved.WHOLE or kind == "other":
                left_out.append(Refusal(path, f"a {kind} is not copied into a sandbox"))
                continue
            wanted[path] = node
            size += view.tree.attrs(node)["size"] if kind == "file" else 0
            if len(wanted) > self._limits.entries or size > self._limits.disk:
                raise TooLarge(
                    f"a sandbox holds at most {self._limits.entries:,} files and {self._limits.disk >> 20} MB; work in"
                    " one of the folders"
                )
        return wanted, left_out

    def _clear(self, safe_dir: SafeDir, view: View, wanted: Mapping[str, int]) -> set[str]:
        """Remove what is not as the view wants it; return the paths that stay."""
        removed, kept = set[str](), set[str]()
        for path, found in _walk(safe_dir).stats.items():
            if _below(path, removed):
                continue
            if self._differs(path, found, view, wanted):
                _remove(safe_dir, path)
                removed.add(path)
            else:
                kept.add(path)
        return kept

    def _differs(self, path: str, found: os.stat_result, view: View, wanted: Mapping[str, int]) -> bool:
        known, node = self._known.get(path), wanted.get(path)
        return known is None or node is None or not self._is_known(path, found) or known.source != _source(view, node)

    def _is_known(self, path: str, found: os.stat_result) -> bool:
        known = self._known.get(path)
        return known is not None and known.signature.matches(Signature.of(found))

    def _put(self, safe_dir: SafeDir, path: str, view: View, node: int) -> _Known:
        attrs, sha256 = view.tree.attrs(node), ""
        with safe_dir.parent(path) as (fd, name):
            if attrs["kind"] == "symlink":
                os.symlink(_target(view, node), name, dir_fd=fd)
                os.chown(name, *owner(), dir_fd=fd, follow_symlinks=False)
            elif attrs["kind"] == "directory":
                os.mkdir(name, 0o700, dir_fd=fd)
                with _given(os.open(name, LISTED | os.O_NOFOLLOW, dir_fd=fd), attrs["mode"] | 0o700):
                    pass
            else:
                mode, mtime_ns = attrs["mode"] | 0o600, attrs["mtime_ns"]
                # Opened first: of a file that cannot be read, no empty one is left.
                with (
                    view.opened(node) as content,
                    _given(os.open(name, NEW, 0o600, dir_fd=fd), mode, mtime_ns) as made,
                ):
                    sha256 = _written(content, made)
            placed = Signature.of(os.stat(name, dir_fd=fd, follow_symlinks=False))
        return _Known(placed, _source(view, node), sha256)

    def _copies(
        self,
        safe_dir: SafeDir,
        changed: Mapping[str, os.stat_result],
        refused: list[Refusal],
        cache: BlobCache,
        keep: Callable[[BinaryIO], Blob],
    ) -> Iterator[tuple[str, _Copy]]:
        """Copy each changed file; what else a command made is refused. Sparse files could have any size together."""
        left = self._limits.disk
        for path, one in changed.items():
            if stat.S_ISDIR(one.st_mode):
                continue
            if not stat.S_ISREG(one.st_mode):
                refused.append(Refusal(path, "a link, device, pipe or socket of a command stays in the sandbox"))
                continue
            left -= one.st_size
            if left < 0:
                refused.append(Refusal(path, "the changed files are together larger than the workspace may be"))
                continue
            try:
                yield path, self._copied(safe_dir, path, cache, keep)
            except (OSError, Rejected) as error:
                refused.append(Refusal(path, getattr(error, "strerror", None) or str(error)))

    def _copied(self, safe_dir: SafeDir, path: str, cache: BlobCache, keep: Callable[[BinaryIO], Blob]) -> _Copy:
        with os.fdopen(safe_dir.at(path, READ), "rb", buffering=0) as file:
            opened = os.fstat(file.fileno())
            if not stat.S_ISREG(opened.st_mode) or opened.st_nlink != 1:
                raise Rejected("a command may not make a hard link")
            if opened.st_mode & SPECIAL:
                raise Rejected("a command may not set the set-user-id bit")
            content, sha256 = self._kept(file, cache, keep)
        return _Copy(content, sha256, opened.st_mode & 0o777, opened.st_ino)

    def _kept(self, file: BinaryIO, cache: BlobCache, keep: Callable[[BinaryIO], Blob]) -> tuple[Content, str]:
        with cache.drafting() as draft:
            digest, size = hashlib.sha256(), 0
            while piece := file.read(CHUNK):
                size += len(piece)
                if size > self._limits.disk:
                    raise Rejected("it is larger than the workspace may be")
                digest.update(piece)
                draft.write(piece)
            draft.flush()
            if size > INLINE_MAX:
                return keep(draft), digest.hexdigest()
            draft.seek(0)
            return Inline.of(draft.read()), digest.hexdigest()

    def _operations(
        self,
        changed: Mapping[str, os.stat_result],
        folders: Mapping[str, os.stat_result],
        copies: Mapping[str, _Copy],
        gone: Sequence[str],
    ) -> Iterator[AnyOperation]:
        """Order: what changed its kind goes first, then folders, moves, contents, and last what is gone."""
        replaced = {path for path in changed if path in self._known and self._kind(path) != _kind(changed[path])}
        for path in sorted(replaced):
            yield Delete(path=path, reason=self._reason)
        for path in folders:
            if path not in self._known or path in replaced:
                yield Create(path=path, directory=True, mode=folders[path].st_mode & 0o777, reason=self._reason)
        lost = {self._known[path].signature.ino: path for path in gone if not _below(path, replaced)}
        moved = set[str]()
        for path, copy in copies.items():
            there = path in self._known and path not in replaced
            source = None if there else lost.pop(copy.ino, None)
            if there:
                known = self._known[path]
                mode = None if self._same_mode(path, copy) else copy.mode
                if known.sha256 != copy.sha256 or mode is not None:
                    yield Write(path=path, content=copy.content, mode=mode, reason=self._reason)
            elif source is not None and self._known[source].sha256 == copy.sha256 and self._same_mode(source, copy):
                moved.add(source)
                yield Move(path=source, target=path, reason=self._reason)
            else:
                yield Create(path=path, content=copy.content, mode=copy.mode, reason=self._reason)
        done = replaced | moved
        for path in gone:
            if not _below(path, done):
                done.add(path)
                yield Delete(path=path, reason=self._reason)

    def _kind(self, path: str) -> str:
        return kind_of(self._known[path].signature.mode)

    def _same_mode(self, path: str, copy: _Copy) -> bool:
        return self._known[path].signature.mode & 0o777 == copy.mode


@dataclass(frozen=True)
class _Copy:
    """A changed file as it was copied."""

    content: Content
    sha256: str
    mode: int
    ino: int


def _walk(safe_dir: SafeDir) -> _Found:
    """List the folder, folders before their contents. Guarded names are refused without a look inside."""
    found, pending = _Found(), [""]
    while pending:
        here = pending.pop()
        try:
            with safe_dir.entries(here) as entries:
                listed = sorted((names.encode(os.fsencode(entry.name)), entry) for entry in entries)
                below = {names.join(here, name): entry.stat(follow_symlinks=False) for name, entry in listed}
        except OSError as error:
            found.closed.add(here)
            found.refused.append(Refusal(names.shown(here), f"it cannot be read: {error.strerror}"))
            continue
        for path, one in below.items():
            if why := _withheld(path, one):
                found.refused.append(Refusal(path, why))
                continue
            found.stats[path] = one
            if stat.S_ISDIR(one.st_mode):
                pending.append(path)
    return found


def _withheld(path: str, found: os.stat_result) -> str | None:
    """Return why an entry is not looked at, if it is not."""
    if guarded(path):
        return "a command may not change it"
    if not stat.S_ISDIR(found.st_mode):
        return None
    if path.count("/") >= DEEPEST:
        return f"it is nested more than {DEEPEST} levels deep"
    return "it stays in the sandbox" if reserved.by_name(path.rpartition("/")[2]) else None


def _source(view: View, node: int) -> Hashable:
    """Return what a node's content and mode depend on: equal for equal content."""
    attrs = view.tree.attrs(node)
    body = view.contents.get(node, Original(node))
    match body:
        case Original() if attrs["kind"] == "file":
            content: Hashable = view.base_signature(body.node)
        case Blob():
            content = body.sha256
        case Inline():
            content = body.base64
        case _:
            content = view.base_signature(_original(view, node)) if attrs["kind"] == "symlink" else ""
    return attrs["kind"], attrs["mode"] & 0o777, content


def _written(content: BinaryIO, fd: int) -> str:
    """Write a content to an open file; return its SHA-256."""
    digest = hashlib.sha256()
    while piece := content.read(CHUNK):
        digest.update(piece)
        while piece:
            piece = piece[os.write(fd, piece) :]
    return digest.hexdigest()


@contextmanager
def _given(fd: int, mode: int, mtime_ns: int | None = None) -> Iterator[int]:
    """Give an open file or folder to the commands once it is complete, and close it."""
    try:
        yield fd
        os.fchmod(fd, mode & 0o777)
        if mtime_ns is not None:
            os.utime(fd, ns=(mtime_ns, mtime_ns))
        os.fchown(fd, *owner())
    finally:
        os.close(fd)


def _original(view: View, node: int) -> int:
    """Return the node of the scan that a node is, or is a copy of."""
    body = view.contents.get(node, Original(node))
    return body.node if isinstance(body, Original) else node


def _target(view: View, node: int) -> bytes:
    """Read a link of the real folder. It may lead anywhere: in the sandbox that is the sandbox's own."""
    with SafeDir.open(view.tree.root) as real, real.parent(view.base_path(_original(view, node))) as (fd, name):
        return os.readlink(name, dir_fd=fd)


def _remove(safe_dir: SafeDir, path: str) -> None:
    """Remove a file or a whole folder, whatever rights a command gave it."""
    order, pending = list[str](), [path]
    while pending:
        order.append(here := pending.pop())
        if len(here.split("/")) > 2 * DEEPEST:
            raise TooDeep
        if stat.S_ISDIR(safe_dir.stat(here).st_mode):
            fd = safe_dir.at(here, FOLDER)
            try:
                Path(f"/proc/self/fd/{fd}").chmod(0o700)
            finally:
                os.close(fd)
            with safe_dir.entries(here) as entries:
                pending += [names.join(here, names.encode(os.fsencode(entry.name))) for entry in entries]
    for here in reversed(order):
        with safe_dir.parent(here) as (fd, name):
            try:
                os.unlink(name, dir_fd=fd)
            except IsADirectoryError:
                os.rmdir(name, dir_fd=fd)


def _kind(found: os.stat_result) -> str:
    return kind_of(found.st_mode)


def _below(path: str, folders: Collection[str]) -> bool:
    """Return whether a path is one of the folders or lies below one."""
    return any(above in folders for above in (*names.lineage(path), ""))
