"""What can go wrong in a workspace, named by what the caller can do about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from libs.errors import Conflict, NotFound, Rejected, Unavailable


class OutsideWorkspace(Rejected):
    """The path leaves the workspace."""

    code = "OUTSIDE_WORKSPACE"


class InvalidPath(Rejected):
    """The path is not one that a file can have."""

    code = "INVALID_PATH"


class NoSuchPath(NotFound):
    """There is nothing at this path."""

    code = "NO_SUCH_PATH"


class AlreadyExists(Rejected):
    """Something is at this path already."""

    code = "ALREADY_EXISTS"


class WrongKind(Rejected):
    """The thing at this path is of another kind than the operation needs."""

    code = "WRONG_KIND"


class Sealed(Rejected):
    """The folder cannot be read whole, so it is neither moved nor deleted."""

    code = "SEALED"


class BadRoot(Rejected):
    """This folder may not be a workspace."""

    code = "BAD_ROOT"


class BadContent(Rejected):
    """The content is not what the operation says that it is."""

    code = "BAD_CONTENT"


class CannotExclude(Rejected):
    """The rest of the change needs what is to be left out."""

    code = "CANNOT_EXCLUDE"


class NoSuchCommit(NotFound):
    """There is no such commit to roll back."""

    code = "NO_SUCH_COMMIT"


class HistoryGone(Rejected):
    """The journal of this commit is no longer kept, so it cannot be rolled back."""

    code = "HISTORY_GONE"


class NotPermitted(Rejected):
    """The system does not let us change this file."""

    code = "NOT_PERMITTED"


class Unsupported(Rejected):
    """The file system cannot do what a safe commit needs."""

    code = "UNSUPPORTED"


class NoSpace(Unavailable):
    """The disk is full."""

    code = "NO_SPACE"


class Failed(Unavailable):
    """The file system failed; everything is as it was."""

    code = "WORKSPACE_FAILED"


class Busy(Unavailable):
    """Another commit holds the workspace."""

    code = "WORKSPACE_BUSY"


class Unfinished(Unavailable):
    """An interrupted commit must be recovered first."""

    code = "WORKSPACE_UNFINISHED"


class AlreadyCommitted(Conflict):
    """This commit was made before; ask for its outcome instead."""

    code = "ALREADY_COMMITTED"


class Changed(Conflict):
    """The file was changed by someone else since the workspace was read."""

    code = "CHANGED"


@dataclass(frozen=True)
class Clash:
    """One path that is not as it was, and in what way."""

    path: str
    reason: str


class CommitConflict(Conflict):
    """Files were changed by someone else; nothing was overwritten. `clashes` lists them, so that they can be
    excluded."""

    code = "COMMIT_CONFLICT"

    def __init__(self, clashes: Iterable[Clash]) -> None:
        self.clashes: Sequence[Clash] = tuple(clashes)
        super().__init__("; ".join(f"{clash.path}: {clash.reason}" for clash in self.clashes[:20]))

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(clash.path for clash in self.clashes)
