"""The rows of files and uploads: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from libs.changes import Row
from services.gateway.schema import GROUP


@dataclass(frozen=True, slots=True)
class AssetPut(Row):
    """A file that a step has made."""

    into: ClassVar = (GROUP, "asset.put")

    asset_id: str
    session_id: str | None
    turn_id: str
    filename: str
    media_type: str
    sha256: str
    size: int
    at: str


@dataclass(frozen=True, slots=True)
class MessageAttached(Row):
    """An upload of the principal that a message names; from then on it does not expire."""

    into: ClassVar = (GROUP, "message.attach")

    session_id: str | None
    turn_id: str
    asset_id: str
    principal: str
    filename: str


@dataclass(frozen=True, slots=True)
class UploadOpened(Row):
    """A new upload, within the tenant's limits of unused files and of bytes; else it conflicts."""

    into: ClassVar = (GROUP, "upload.open")

    upload_id: str
    principal: str
    filename: str
    media_type: str
    sha256: str | None
    size: int
    metadata: str
    seconds: float
    files_most: int
    bytes_most: int


@dataclass(frozen=True, slots=True)
class UploadPart(Row):
    """A reference to a blob that is about to be stored; a condemned blob conflicts."""

    into: ClassVar = (GROUP, "upload.part")

    part_id: str
    upload_id: str
    start: int
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class UploadAdvanced(Row):
    """A stored piece of an upload; of two with the same bytes, one conflicts."""

    into: ClassVar = (GROUP, "upload.advance")

    upload_id: str
    part_id: str
    start: int
    size: int
    seconds: float


@dataclass(frozen=True, slots=True)
class UploadFinished(Row):
    """The end of an upload: it becomes an asset. `collector` is the lease that deletes its pieces."""

    into: ClassVar = (GROUP, "upload.finish")

    upload_id: str
    received: int
    media_type: str
    sha256: str
    seconds: float
    collector: str


@dataclass(frozen=True, slots=True)
class UploadDropped(Row):
    """An upload that its principal deletes."""

    into: ClassVar = (GROUP, "upload.drop")

    upload_id: str
    collector: str


@dataclass(frozen=True, slots=True)
class UploadExpired(Row):
    """An upload that is deleted if its time has come and no message named it."""

    into: ClassVar = (GROUP, "upload.expire")

    upload_id: str
    collector: str


@dataclass(frozen=True, slots=True)
class BlobForgotten(Row):
    """A condemned blob that is gone from the store."""

    into: ClassVar = (GROUP, "blob.forget")

    sha256: str
    collector: str
