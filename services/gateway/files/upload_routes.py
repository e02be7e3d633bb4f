"""Uploads by tus 1.0, a protocol with clients for browsers, phones and scripts: announce a file, then send its bytes.

An interrupted upload goes on where it stopped, at any replica. The upload's id is the asset's id: messages name it, and
`GET /v1/assets/{id}` returns the content.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Request, Response

from libs.errors import Rejected
from services.gateway.files.context import Files, Here
from services.gateway.files.incoming import Body
from services.gateway.files.media_types import BadMediaType, TypeMismatch
from services.gateway.files.models import Upload, UploadShown
from services.gateway.files.tus import EXTENSIONS, BadMetadata, announced
from services.gateway.files.uploads import (
    DELETE,
    WRITE,
    Busy,
    ChecksumMismatch,
    NoSuchUpload,
    OffsetMoved,
    TooSlow,
    UploadTooLarge,
)
from services.gateway.http import commands
from services.gateway.http.errors import Refusal, raises
from services.gateway.http.models import Id
from services.gateway.http.urls import TUS, UPLOADS
from services.gateway.identity.security import Authenticated, CanUpload

BYTES = "application/offset+octet-stream"
CONTENT: dict[str, Any] = {"requestBody": {"content": {BYTES: {"schema": {"type": "string", "format": "binary"}}}}}
SENT: dict[str, Any] = {"requestBody": {**CONTENT["requestBody"], "required": True}}
FULL = Refusal(
    429, "UPLOADS_FULL", "your tenant has 1000 unused uploads; use or delete some, or wait until they expire"
)

router = APIRouter(tags=["assets"])


class OtherProtocol(Rejected):
    """Uploads use tus 1.0; send `Tus-Resumable: 1.0.0`."""

    code = "UPLOAD_PROTOCOL"


class NotUploadBytes(Rejected):
    """Send the bytes as `application/offset+octet-stream`."""

    code = "NOT_UPLOAD_BYTES"


Resumable = Annotated[str | None, Header(alias="Tus-Resumable", json_schema_extra={"enum": [TUS]})]


async def _tus(version: Resumable = None) -> None:
    if version != TUS:
        raise OtherProtocol


RECEIVING = (TypeMismatch, ChecksumMismatch, TooSlow)
"""Errors of a request that sends bytes."""
Tus = Depends(_tus)
UploadId = Annotated[Id, Path()]
Count = Annotated[int, Header(ge=0, le=1 << 50)]


@router.options(UPLOADS, status_code=204, response_class=Response)
async def options(here: Here, who: Authenticated) -> Response:
    """Return the protocol's version and extensions, and the largest file."""
    about = {"Tus-Version": TUS, "Tus-Extension": EXTENSIONS, "Tus-Max-Size": str(here.settings.upload_bytes_most)}
    return Response(status_code=204, headers={"Tus-Resumable": TUS, **about})


@router.post(
    UPLOADS,
    status_code=201,
    dependencies=[Tus],
    response_model=UploadShown,
    responses=raises(OtherProtocol, UploadTooLarge, BadMetadata, BadMediaType, FULL, Busy, *RECEIVING),
    openapi_extra=CONTENT,
)
async def begin(
    request: Request,
    response: Response,
    here: Here,
    who: Authenticated,
    length: Annotated[Count, Header(alias="Upload-Length", description="Bytes of the file")],
    metadata: Annotated[
        str,
        Header(
            alias="Upload-Metadata",
            description="`key base64` pairs, separated by commas: `filename`; `filetype`, the claimed media type; "
            "`sha256`, in hex",
        ),
    ] = "",
) -> Any:
    """Announce a file; the body may hold its first bytes, or all of them. `Location` is where the others go."""
    file = announced(metadata, length)
    allowed = await commands.permitted(here, commands.cause_of(who), who, WRITE)
    upload = await here.uploads.open(who, file, allowed)
    if _sends_bytes(request) or file.size == 0:
        upload = await here.uploads.receive(who, upload, _body(request, here), allowed)
    response.headers.update(_headers(upload) | {"Location": f"{UPLOADS}/{upload.upload_id}"})
    return upload


@router.head(
    f"{UPLOADS}/{{upload_id}}",
    dependencies=[Tus],
    response_class=Response,
    responses=raises(OtherProtocol, NoSuchUpload),
)
async def offset(here: Here, who: CanUpload, upload_id: UploadId) -> Response:
    """Return how many bytes have arrived (`Upload-Offset`): an interrupted upload goes on from there."""
    upload = await here.uploads.own(who, upload_id)
    about = {"Upload-Metadata": upload.metadata} if upload.metadata else {}
    return Response(headers=_headers(upload) | {"Upload-Length": str(upload.size), **about})


@router.get(f"{UPLOADS}/{{upload_id}}", responses=raises(NoSuchUpload))
async def read(here: Here, who: CanUpload, upload_id: UploadId) -> UploadShown:
    """Return an upload: its state, and once it is complete its type and SHA-256."""
    return await here.uploads.own(who, upload_id)


@router.patch(
    f"{UPLOADS}/{{upload_id}}",
    status_code=204,
    dependencies=[Tus],
    response_class=Response,
    responses=raises(OtherProtocol, NoSuchUpload, NotUploadBytes, UploadTooLarge, OffsetMoved, Busy, *RECEIVING),
    openapi_extra=SENT,
)
async def send(
    request: Request,
    here: Here,
    who: Authenticated,
    upload_id: UploadId,
    start: Annotated[Count, Header(alias="Upload-Offset", description="The upload's present offset")],
) -> Response:
    """Send bytes from an offset on. The last byte completes the upload."""
    if not _sends_bytes(request):
        raise NotUploadBytes
    upload = await here.uploads.own(who, upload_id)
    if upload.received != start:
        raise OffsetMoved(f"the upload is at offset {upload.received}; send the bytes from there")
    _check_length(request, upload)
    allowed = await commands.permitted(here, commands.cause_of(who), who, WRITE)
    done = await here.uploads.receive(who, upload, _body(request, here), allowed)
    return Response(status_code=204, headers=_headers(done))


@router.delete(
    f"{UPLOADS}/{{upload_id}}",
    status_code=204,
    dependencies=[Tus],
    response_class=Response,
    responses=raises(OtherProtocol, NoSuchUpload),
)
async def drop(here: Here, who: Authenticated, upload_id: UploadId) -> Response:
    """Delete an upload, complete or not. Messages that named it keep its name, not its content."""
    upload = await here.uploads.own(who, upload_id)
    allowed = await commands.permitted(here, commands.cause_of(who), who, DELETE)
    await here.uploads.drop(who, upload.upload_id, allowed)
    return Response(status_code=204, headers={"Tus-Resumable": TUS})


def _sends_bytes(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == BYTES


def _check_length(request: Request, upload: Upload) -> None:
    """Refuse what is too long before it is read."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > upload.size - upload.received:
        raise UploadTooLarge(f"the upload lacks {upload.size - upload.received} bytes; send no more")


def _body(request: Request, here: Files) -> Body:
    return Body(request.stream(), seconds=here.settings.upload_idle_seconds)


def _headers(upload: Upload) -> dict[str, str]:
    expiry = {"Upload-Expires": _http_date(upload.expires_at)} if upload.expires_at is not None else {}
    return {"Tus-Resumable": TUS, "Upload-Offset": str(upload.received), **expiry}


def _http_date(at: datetime) -> str:
    return format_datetime(at.astimezone(UTC), usegmt=True)
