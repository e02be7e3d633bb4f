"""The context: what primitives work with, and what each of them brings back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from posixpath import basename
from typing import Any, BinaryIO, Protocol, cast

from libs.errors import NotFound, Rejected
from libs.skills import Categories
from libs.skills.categories import split_suffix
from libs.workspace import names
from libs.workspace.errors import NotPermitted, WrongKind
from libs.workspace.operations import AnyOperation, Batch, Blob, Create
from libs.workspace.queries import NAMED_MOST
from libs.workspace.scope import resolve
from libs.workspace.stage import Applied, Stage
from libs.workspace.view import Node
from services.tool_executor.tools.decoding import SkipReason
from services.tool_executor.tools.limits import Limits

READS_MOST = 2_000
CHUNK = 256 * 1024
Args = Mapping[str, Any]


class TooMuch(Rejected):
    """This is beyond what one call may read or make."""

    code = "TOO_MUCH"


@dataclass(frozen=True)
class ToolOutput:
    """The result of a primitive (`data`, by the fields that its tool declares) and the operation that it staged."""

    data: dict[str, Any]
    summary: str
    reads: tuple[str, ...] = ()
    applied: Applied | None = None
    warnings: tuple[str, ...] = ()
    picture: bytes | None = None
    """A JPEG for models that see; the runner stores it and names it in `data`."""


class FileTexts(Protocol):
    """The contents of files (`texts.Texts`), declared here so that no module imports its own user."""

    @property
    def unread(self) -> dict[str, SkipReason]:
        """Why a file was not looked into, by its path."""
        ...

    @property
    def cut(self) -> set[str]:
        """The files of which only the beginning was read."""
        ...

    def of(self, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Path and text of each file that can be read."""
        ...


def no_cancel() -> None:
    """Never stop the work."""


@dataclass(frozen=True)
class ToolContext:
    """The stage, limits and texts of a primitive's call. Long work calls `check` now and then, which raises once the
    call is no longer wanted.
    """

    stage: Stage
    categories: Categories
    mutates: bool = False
    reason: str = ""
    limits: Limits = field(default_factory=Limits)
    check: Callable[[], None] = no_cancel
    texts: FileTexts | None = None
    """The contents of files, with the memory of those that were read before."""
    attachments: Mapping[str, BinaryIO] = field(default_factory=dict)
    """Drafts of attached files that the call takes, by name."""
    listed: frozenset[str] = frozenset()
    """Names of the args that a listing filled: their paths were chosen in bulk, not named."""
    history_days: float = 30.0
    """How long deleted bytes are kept."""
    looked_into: int = 5_000
    """Files whose texts choose for one list."""
    missing: list[str] = field(default_factory=list)
    """Warnings about named paths that no longer exist."""
    weight: list[int] = field(default_factory=list)
    """Bytes of staged contents, once they were counted."""

    def put(self, operations: Sequence[AnyOperation]) -> Applied | None:
        """Stage the operations as one version: all of them or none. Nothing to do is no version."""
        if not operations:
            return None
        # The second wall: policy has judged this call as one that only reads.
        if not self.mutates:
            raise Rejected("a tool that only reads tried to change something")
        # Before anything is staged: a person would approve what the commit could not write.
        if not os.access(self.stage.tree.root, os.W_OK, effective_ids=True):
            raise NotPermitted(f"{self.stage.tree.root} cannot be written; it can only be looked at")
        batch = {"operations": operations, "reason": self.reason}
        return self.stage.apply(operations[0] if len(operations) == 1 else Batch.model_validate(batch))

    def present(self, paths: Sequence[str], *, strict: bool) -> Iterator[str]:
        """Yield the paths that still exist, each once and as the tree spells it; stale ones are noted (S4-36)."""
        seen: set[int] = set()
        for path in paths:
            try:
                node = self.stage.locate(path)
            except NotFound:
                if strict:
                    raise
                self.missing.append(f"{path} is no longer there and was left out.")
                continue
            if node not in seen:
                seen.add(node)
                yield names.shown(self.stage.tree.path(node))

    def named(self, paths: Sequence[str]) -> list[Node]:
        """Return the nodes of the paths that still exist. Raises NotFound for a single one that does not."""
        return [self.stage.get_metadata(path) for path in self.present(paths, strict=len(paths) == 1)]

    def whole(self, paths: Sequence[str], arg: str) -> tuple[list[str], list[str]]:
        """Return the paths of an arg without listed folders that could not be read completely, and these."""
        unread = [path for path in paths if arg in self.listed and self.stage.sealed_in(path) is not None]
        self.missing.extend(f"{path} cannot be read completely and was left as it is." for path in unread)
        return [path for path in paths if path not in unread], unread

    def movable(self, paths: Sequence[str], arg: str) -> tuple[list[str], dict[str, Any]]:
        """Return the paths of an arg without listed folders that hold a repository or could not be read, and the
        result's `left_alone`.

        A repository moves only if it, or a folder that holds it, is named.
        """
        paths, unread = self.whole(paths, arg)
        if arg not in self.listed:
            return paths, {}
        held = self.stage.tree.repositories_below()
        kept = {path: held.get(self.stage.locate(path)) for path in paths}
        below = {path: names.shown(self.stage.tree.path(node)) for path, node in kept.items() if node is not None}
        self.missing.extend(
            f"{path} holds the repository {found} and was left where it is; name {path} to move it."
            for path, found in below.items()
        )
        return [path for path in paths if path not in below], omitted(repositories=below.values(), unread=unread)

    def exists(self, path: str) -> bool:
        try:
            self.stage.locate(path)
        except NotFound:
            return False
        return True

    def is_folder(self, path: str) -> bool:
        return self.exists(path) and self.stage.get_metadata(path).kind == "directory"

    def means_folder(self, source: str, target: str) -> bool:
        """Return whether the target is an existing folder or a new one; a file keeps its extension."""
        if self.is_folder(target):
            return True
        return bool(split_suffix(basename(source))[1]) and not split_suffix(basename(target))[1]

    def within(self, path: str) -> str:
        """Return a path as the tree spells it, whether or not it exists. Raises `OutsideWorkspace`."""
        return names.shown("/".join(resolve(self.stage.tree.root, path)))

    def making(self, folder: str) -> list[Create]:
        """Return the operations that create a folder and its missing parents."""
        lineage = [folder, *_above(folder)]
        lacking = [path for path in lineage if path not in (".", "") and not self.exists(path)]
        if taken := next(
            (path for path in lineage if path not in (*lacking, ".", "") and not self.is_folder(path)), None
        ):
            raise WrongKind(f"{taken} is a file, so no folder can have its name; rename that file first")
        return [Create(path=path, directory=True, reason=self.reason) for path in reversed(lacking)]

    def names_in(self, folder: str) -> set[str]:
        return self.stage.names_in(folder) if self.is_folder(folder) else set()

    def file(self, path: str) -> Node:
        """Return the file at a path. Raises `WrongKind` for a folder or a link."""
        node = self.stage.get_metadata(path)
        if node.kind != "file":
            raise WrongKind(f"{path} is a folder, not a file" if node.kind == "directory" else f"{path} is not a file")
        return node

    @contextmanager
    def opened(self, path: str) -> Iterator[BinaryIO]:
        """Open the content of a file, as the stage would leave it."""
        with self.stage.opened(self.stage.locate(path)) as raw:
            buffered = BufferedReader(cast(Any, raw), CHUNK)
            try:
                yield buffered
            finally:
                buffered.detach()

    def cached(self, draft: BinaryIO) -> Blob:
        """Put the content into the stage's blob cache, to be staged."""
        if not self.weight:
            self.weight.append(sum(blob.size for blob in self.stage.blobs_needed))
        self.weight[0] += draft.seek(0, os.SEEK_END)
        if self.weight[0] > (most := self.limits.staged_bytes_most):
            raise TooMuch(f"more than {most} bytes would be staged; commit what is there first")
        return self.stage.blob_cache.put(draft)


def omitted(*, repositories: Iterable[str] = (), unread: Iterable[str] = ()) -> dict[str, Any]:
    """Return the field `left_alone` of a result (`queries.left_alone`); empty if nothing was left alone."""
    told = {"repositories": sorted({*repositories})[:NAMED_MOST], "unread": sorted({*unread})[:NAMED_MOST]}
    return {"left_alone": {"files": 0, "ignored": 0, "odd": [], **told}} if any(told.values()) else {}


def topmost(paths: Sequence[str]) -> list[str]:
    """Without what lies below another of them: a folder that goes takes with it what it holds."""
    named = set(paths)
    return [path for path in paths if not any(above in named for above in _above(path))]


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
    if path != ".":
        yield "."


def many(count: int, word: str) -> str:
    """1 file, 2 files."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def human(size: int) -> str:
    """Format a size for people: 12 MB."""
    amount = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.0f} {unit}" if amount >= 10 or unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.0f} GB"
