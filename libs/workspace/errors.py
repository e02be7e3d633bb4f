"""Errors of a workspace, named by what the caller can do about them."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from libs.errors import Conflict, NotFound, Rejected, Unavailable

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of the system when the disk has no free block or inode, or the user's quota is used up."""


class OutsideWorkspace(Rejected):
    """The path is outside the workspace; use a path inside it."""

    code = "OUTSIDE_WORKSPACE"


class InvalidPath(Rejected):
    """The path is not valid for a file."""

    code = "INVALID_PATH"


class NoSuchPath(NotFound):
    """Nothing exists at this path."""

    code = "NO_SUCH_PATH"


class AlreadyExists(Rejected):
    """Something already exists at this path; choose another name."""

    code = "ALREADY_EXISTS"


class WrongKind(Rejected):
    """The item at this path is of another kind than the operation needs."""

    code = "WRONG_KIND"


class Sealed(Rejected):
    """The folder cannot be read completely, so it is neither moved nor deleted."""

    code = "SEALED"


class Unreadable(Rejected):
    """The system does not permit reading this file."""

    code = "UNREADABLE"


class Holding(Rejected):
    """The folder holds something that may not be deleted or copied with it."""

    code = "HOLDS_LEFT_ALONE"


class BadRoot(Rejected):
    """This folder may not be a workspace; choose another one."""

    code = "BAD_ROOT"


class BadContent(Rejected):
    """The content does not match the operation's description of it."""

    code = "BAD_CONTENT"


class CannotExclude(Rejected):
    """The rest of the change depends on what you exclude; exclude that part too."""

    code = "CANNOT_EXCLUDE"


class NoSuchCommit(NotFound):
    """This commit does not exist, so it cannot be rolled back."""

    code = "NO_SUCH_COMMIT"


class HistoryGone(Rejected):
    """The journal of this commit is no longer kept, so it cannot be rolled back."""

    code = "HISTORY_GONE"


class Forged(Rejected):
    """A transaction was not made here for this folder; it was ignored."""

    code = "FORGED"


class NotPermitted(Rejected):
    """The system does not permit changes to this file."""

    code = "NOT_PERMITTED"


class Unsupported(Rejected):
    """The file system lacks a function that a safe commit needs."""

    code = "UNSUPPORTED"


class NoSpace(Unavailable):
    """The disk is full; free some space and try again."""

    code = "NO_SPACE"


class Failed(Unavailable):
    """The file system failed, and nothing was changed; try again."""

    code = "WORKSPACE_FAILED"


class Busy(Unavailable):
    """Another commit is using the workspace; try again when it is done."""

    code = "WORKSPACE_BUSY"


class Unfinished(Unavailable):
    """An interrupted commit must be recovered first."""

    code = "WORKSPACE_UNFINISHED"


class AlreadyCommitted(Conflict):
    """This commit was made before; ask for its outcome instead."""

    code = "ALREADY_COMMITTED"


class Changed(Conflict):
    """The file was changed since the workspace was read; read it again."""

    code = "CHANGED"


@dataclass(frozen=True)
class PathConflict:
    """One path that has changed, and the kind of change."""

    path: str
    reason: str


class CommitConflict(Conflict):
    """Files have been modified since; nothing was overwritten. `conflicts` lists them, so they can be excluded."""

    code = "COMMIT_CONFLICT"

    def __init__(self, conflicts: Iterable[PathConflict]) -> None:
        self.conflicts: Sequence[PathConflict] = tuple(conflicts)
        super().__init__("; ".join(f"{conflict.path}: {conflict.reason}" for conflict in self.conflicts[:20]))

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(conflict.path for conflict in self.conflicts)
