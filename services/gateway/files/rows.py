"""The rows of files and uploads: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from libs.changes import Row, row
from services.gateway.schema import GROUP


@row(GROUP, "message.attach")
class MessageAttached(Row):
    """An upload of the principal that a message names; from then on it does not expire."""

    session_id: str | None
    turn_id: str
    asset_id: str
    principal: str
    filename: str


@row(GROUP, "upload.open")
class UploadOpened(Row):
    """A new upload, within the tenant's limits of unused files and of bytes; else it conflicts."""

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


@row(GROUP, "upload.part")
class UploadPart(Row):
    """A reference to a blob that is about to be stored; a condemned blob conflicts."""

    part_id: str
    upload_id: str
    start: int
    size: int
    sha256: str


@row(GROUP, "upload.advance")
class UploadAdvanced(Row):
    """A stored piece of an upload; of two with the same bytes, one conflicts."""

    upload_id: str
    part_id: str
    start: int
    size: int
    seconds: float


@row(GROUP, "upload.finish")
class UploadFinished(Row):
    """The end of an upload: it becomes an asset. `collector` is the lease that deletes its pieces."""

    upload_id: str
    received: int
    media_type: str
    sha256: str
    seconds: float
    collector: str


@row(GROUP, "upload.drop")
class UploadDropped(Row):
    """An upload that its principal deletes."""

    upload_id: str
    collector: str


@row(GROUP, "upload.expire")
class UploadExpired(Row):
    """An upload that is deleted if its time has come and no message named it."""

    upload_id: str
    collector: str


@row(GROUP, "blob.forget")
class BlobForgotten(Row):
    """A condemned blob that is gone from the store."""

    sha256: str
    collector: str
