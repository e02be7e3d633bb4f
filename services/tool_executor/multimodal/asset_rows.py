"""The rows of assets: one class for each paragraph of `assets.sql`. Times are ISO 8601."""

from __future__ import annotations

from libs.changes import Row, row
from libs.events import Json

SCHEMA = "executor"


@row(SCHEMA, "content.refer")
class ContentReferred(Row):
    """A content that is about to be stored; a known one conflicts."""

    retention: str
    name: str
    sha256: str
    size: int
    blob: str
    wrapped_key: str | None
    credentials: bool


@row(SCHEMA, "content.use")
class ContentUsed(Row):
    """A known content that another asset is about to name; one that is being deleted conflicts."""

    retention: str
    name: str


@row(SCHEMA, "asset.put")
class AssetPut(Row):
    """An asset with its provenance; it conflicts if its content is being deleted."""

    id: str
    session_id: str
    turn_id: str
    call_id: str
    asset_type: str
    format: str
    media_type: str
    retention: str
    content: str
    checksum: str
    size: int
    title: str
    width: int
    height: int
    created_at: str
    keep_seconds: float | None
    provenance: Json


@row(SCHEMA, "asset.expire")
class AssetExpired(Row):
    """An asset that is deleted if its time has come."""

    id: str


@row(SCHEMA, "content.condemn")
class ContentsCondemned(Row):
    """Contents that no asset names, and that were not used for so long; this lease is to delete them."""

    collector: str
    seconds: float


@row(SCHEMA, "content.forget")
class ContentForgotten(Row):
    """A condemned content whose blob is deleted."""

    retention: str
    name: str
    collector: str
