"""Staging: the new inodes of a commit, written completely into their slots before the first rename in the tree.

Content is copied, never linked: if a file shared its inode with a blob store, its first edit in place would corrupt the
store.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import BinaryIO

from libs.workspace.blob_cache import CHUNK
from libs.workspace.engine import Hooks
from libs.workspace.errors import BadContent
from libs.workspace.journal import Folder
from libs.workspace.operations import Blob
from libs.workspace.plan import Draft, Fresh, Item, Plan, Swap
from libs.workspace.safe_dir import SafeDir
from libs.workspace.signature import Signature
from libs.workspace.stage import Stage
from libs.workspace.view import Original, opened_blob


class Staging:
    """Writer of the new inodes of one draft."""

    def __init__(self, stage: Stage, safe_dir: SafeDir, folder: Folder, hooks: Hooks) -> None:
        self.stage, self.safe_dir, self.folder, self.hooks = stage, safe_dir, folder, hooks
        self.owner = os.fstat(safe_dir.fd)

    def write(self, draft: Draft) -> Plan:
        """Write the inodes; return the draft's plan with their signatures."""
        written = {fresh.slot: self._one(fresh) for fresh in draft.wanted}
        return replace(
            draft.plan,
            items=tuple(_signed(item, written) for item in draft.plan.items),
            swaps=tuple(_renewed(swap, written) for swap in draft.plan.swaps),
        )

    def _one(self, fresh: Fresh) -> Signature:
        self.hooks.fence()
        match fresh.kind:
            case "directory":
                signature = self._directory(fresh)
            case "symlink":
                signature = self._symlink(fresh)
            case _:
                signature = self._file(fresh)
        self.hooks.step(f"write:{fresh.slot}")
        return signature

    def _directory(self, fresh: Fresh) -> Signature:
        os.mkdir(fresh.slot, 0o700, dir_fd=self.folder.fd)
        self._own(fresh.slot, self.owner)
        # mkdir's own mode is reduced by the umask.
        os.chmod(fresh.slot, fresh.mode, dir_fd=self.folder.fd)
        return self._signature(fresh)

    def _symlink(self, fresh: Fresh) -> Signature:
        """Copy a link with the same target, which is not resolved here."""
        assert isinstance(fresh.body, Original)
        with self.safe_dir.parent(self.stage.base_path(fresh.body.node)) as (fd, name):
            target = os.readlink(name, dir_fd=fd)
        os.symlink(target, fresh.slot, dir_fd=self.folder.fd)
        self._own(fresh.slot, self.owner)
        return self._signature(fresh)

    def _file(self, fresh: Fresh) -> Signature:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW
        fd = os.open(fresh.slot, flags, 0o600, dir_fd=self.folder.fd)
        with os.fdopen(fd, "wb", buffering=0) as target:
            self._fill(fresh, target)
            if fresh.like is None:
                self._own(fd, self.owner)
            else:
                self._resemble(fd, fresh.like)
            # After the owner: a change of owner clears set-user-id and set-group-id.
            os.fchmod(fd, fresh.mode)
            if fresh.mtime_ns is not None:
                os.utime(fd, ns=(fresh.mtime_ns, fresh.mtime_ns))
            return Signature.of(os.fstat(fd))

    def _fill(self, fresh: Fresh, target: BinaryIO) -> None:
        if fresh.body is None:
            return
        with self._source(fresh) as source:
            sha256, size = _copy(source, target)
        # The store is not trusted: what is committed must be what was approved by its hash.
        if isinstance(fresh.body, Blob) and (sha256, size) != (fresh.body.sha256, fresh.body.size):
            raise BadContent(f"the content of the blob {fresh.body.sha256} does not match its name")

    @contextlib.contextmanager
    def _source(self, fresh: Fresh) -> Iterator[BinaryIO]:
        if isinstance(fresh.body, Blob):
            with opened_blob(self.stage.blobs(fresh.body.sha256)) as stream:
                yield stream
        elif isinstance(fresh.body, Original):
            with self.stage.original(self.safe_dir, fresh.body.node) as stream:
                yield stream
        else:
            yield BytesIO(fresh.body.raw if fresh.body else b"")

    def _resemble(self, fd: int, path: str) -> None:
        """Copy owner and extended attributes (access lists included) of the file that is replaced."""
        # Not blocking: another program may have put a pipe there, whose opening would wait for a writer.
        old = self.safe_dir.at(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            self._own(fd, os.fstat(old))
            for name in _attributes(old):
                # Some can only be set by root, or not on this file system; the content counts without them.
                with contextlib.suppress(OSError):
                    os.setxattr(fd, name, os.getxattr(old, name))
        finally:
            os.close(old)

    def _own(self, target: int | str, like: os.stat_result) -> None:
        """Set the owner, which only root may do; without it root would create files that their user cannot change."""
        if os.geteuid() != 0:
            return
        if isinstance(target, int):
            os.fchown(target, like.st_uid, like.st_gid)
        else:
            os.chown(target, like.st_uid, like.st_gid, dir_fd=self.folder.fd, follow_symlinks=False)

    def _signature(self, fresh: Fresh) -> Signature:
        return Signature.of(os.stat(fresh.slot, dir_fd=self.folder.fd, follow_symlinks=False))


def _signed(item: Item, written: dict[str, Signature]) -> Item:
    return replace(item, signature=written[item.slot]) if item.slot in written else item


def _renewed(swap: Swap, written: dict[str, Signature]) -> Swap:
    return replace(swap, new=written[swap.slot])


def _copy(source: BinaryIO, target: BinaryIO) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while piece := source.read(CHUNK):
        digest.update(piece)
        size += len(piece)
        _write(target, piece)
    return digest.hexdigest(), size


def _write(target: BinaryIO, piece: bytes) -> None:
    """Write everything: an unbuffered write may accept only a part."""
    rest = memoryview(piece)
    while rest:
        rest = rest[target.write(rest) :]


def _attributes(fd: int) -> list[str]:
    try:
        return os.listxattr(fd)
    except OSError:
        return []
