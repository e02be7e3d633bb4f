"""The operations of a stage as data, kept and replayed from a versioned log in Postgres.

Each holds paths as text (`names`) and its `reason`. `seen` holds the signatures of the files at the time of staging, so
that a replay on a later scan notices changes in between.
"""

from __future__ import annotations

import base64
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

from libs.workspace.errors import BadContent

INLINE_MAX = 64 * 1024  # bytes; a larger body is a blob


class _Fact(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Blob(_Fact):
    """Content kept in the object store under its SHA-256."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    size: int = Field(ge=0)


class Inline(_Fact):
    """Content small enough to travel with the operation."""

    base64: str = Field(max_length=INLINE_MAX * 4 // 3 + 4)

    @classmethod
    def of(cls, raw: bytes) -> Inline:
        if len(raw) > INLINE_MAX:
            raise BadContent(f"inline content is at most {INLINE_MAX} bytes")
        return cls(base64=base64.b64encode(raw).decode())

    @model_validator(mode="after")
    def _readable(self) -> Inline:
        base64.b64decode(self.base64, validate=True)
        return self

    @property
    def raw(self) -> bytes:
        return base64.b64decode(self.base64)


Content = Blob | Inline


class _Op(_Fact):
    reason: str = ""
    seen: dict[str, str] = Field(default_factory=dict)


class Create(_Op):
    """A new file or folder at a free path; its parent folder must exist."""

    kind: Literal["create"] = "create"
    path: str
    directory: bool = False
    content: Content | None = None
    mode: int | None = Field(default=None, ge=0, le=0o777)
    mtime_ns: int | None = Field(default=None, ge=-(1 << 63), lt=1 << 63)
    """The file's modification time; None for the time of the commit."""

    @model_validator(mode="after")
    def _whole(self) -> Create:
        if self.directory and self.content is not None:
            raise ValueError("a folder has no content")
        if self.directory and self.mtime_ns is not None:
            raise ValueError("a folder cannot have a modification time of its own")
        return self


class Write(_Op):
    """New content for an existing file, which keeps place, owner, attributes, and mode unless one is given."""

    kind: Literal["write"] = "write"
    path: str
    content: Content
    mode: int | None = Field(default=None, ge=0, le=0o777)


class Move(_Op):
    """A move to a new path, or into `target` if that is an existing folder."""

    kind: Literal["move"] = "move"
    path: str
    target: str


class Rename(_Op):
    """A new name in the same folder."""

    kind: Literal["rename"] = "rename"
    path: str
    new_name: str


class Copy(_Op):
    """A copy at a new path, or inside `target` if that is an existing folder."""

    kind: Literal["copy"] = "copy"
    path: str
    target: str


class Delete(_Op):
    """The removal of a file, a link, or a folder with its contents."""

    kind: Literal["delete"] = "delete"
    path: str
    same_as: str | None = None
    """The file that stays, if this one is deleted only because it holds the same bytes."""


Single = Create | Write | Move | Rename | Copy | Delete


class Batch(_Op):
    """Several operations as one version: all of them or none."""

    kind: Literal["batch"] = "batch"
    operations: tuple[Annotated[Single, Field(discriminator="kind")], ...]


AnyOperation = Single | Batch


class Operation(RootModel[Annotated[AnyOperation, Field(discriminator="kind")]]):
    """Any operation in its JSON form: `Operation.model_validate(row).root`."""

    model_config = ConfigDict(frozen=True)
