"""The operations that a stage takes, as data: what a versioned log in Postgres holds and replays.

Each names paths as text (`names`), says why in `reason`, and carries in `seen` the signatures of the files that it
was staged upon, so that a replay on a later scan notices what changed in between.
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
    """A new file or folder, where nothing is; the folder above must exist."""

    kind: Literal["create"] = "create"
    path: str
    directory: bool = False
    content: Content | None = None
    mode: int | None = Field(default=None, ge=0, le=0o777)
    mtime_ns: int = Field(default=0, ge=0, lt=1 << 63)
    """When the file was last changed; 0 for the moment of the commit."""

    @model_validator(mode="after")
    def _whole(self) -> Create:
        if self.directory and self.content is not None:
            raise ValueError("a folder has no content")
        if self.directory and self.mtime_ns:
            raise ValueError("a folder is changed by what is made in it")
        return self


class Write(_Op):
    """New content for a file that exists; it keeps its place, owner and attributes, and its mode unless one is
    given."""

    kind: Literal["write"] = "write"
    path: str
    content: Content
    mode: int | None = Field(default=None, ge=0, le=0o777)


class Move(_Op):
    """To a new path, or into `target` where that is a folder already."""

    kind: Literal["move"] = "move"
    path: str
    target: str


class Rename(_Op):
    """Another name in the same folder."""

    kind: Literal["rename"] = "rename"
    path: str
    new_name: str


class Copy(_Op):
    """The same content at a new path, or inside `target` where that is a folder already."""

    kind: Literal["copy"] = "copy"
    path: str
    target: str


class Delete(_Op):
    """Away with a file, a link, or a folder and all in it."""

    kind: Literal["delete"] = "delete"
    path: str


Single = Create | Write | Move | Rename | Copy | Delete


class Batch(_Op):
    """Several operations as one version: all of them or none."""

    kind: Literal["batch"] = "batch"
    operations: tuple[Annotated[Single, Field(discriminator="kind")], ...]


AnyOperation = Single | Batch


class Operation(RootModel[Annotated[AnyOperation, Field(discriminator="kind")]]):
    """Any operation, as JSON says it: `Operation.model_validate(row).root`."""

    model_config = ConfigDict(frozen=True)
