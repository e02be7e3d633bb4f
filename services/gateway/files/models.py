"""Models of uploads."""

from __future__ import annotations

from datetime import datetime

from services.gateway.http.models import ResponseModel


class UploadShown(ResponseModel):
    """An uploaded file. Once complete, `media_type` and `sha256` are those of its content, and messages may name it."""

    upload_id: str
    """Also the id of the asset."""
    filename: str
    media_type: str
    size: int
    received: int
    """Bytes that have arrived."""
    sha256: str | None
    complete: bool
    expires_at: datetime | None
    """When it is deleted, unless a message names it before; null: not any more."""


class Upload(UploadShown):
    """An upload as it is stored. Answers show an UploadShown."""

    metadata: str | None = None
    """The client's own words about it, which tus returns."""
