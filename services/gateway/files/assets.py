"""Files for download: what a conversation produced, such as results too large for an event, and uploads.

Policy is asked and the access recorded before any byte or link is sent. If clients can reach the object store, the
response is a short-lived link, so that large content does not pass through this process. The link appears only in the
response.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Request
from fastapi.responses import RedirectResponse, Response

from libs.changes import Cause, Changeset
from libs.errors import NotFound, Rejected
from libs.events import ActionRecorded
from libs.identity import Principal
from libs.objects import disposition
from libs.runtime import problem_details
from services.gateway.files.context import Files, Here
from services.gateway.files.ranges import OutOfRange, part
from services.gateway.files.store import StoredAsset
from services.gateway.http import commands
from services.gateway.http.context import Room
from services.gateway.http.errors import Refusal, raises
from services.gateway.http.models import Id
from services.gateway.identity import access
from services.gateway.identity.lasting_access import Access, Download, prepended
from services.gateway.identity.security import Authenticated

router = APIRouter(tags=["assets"])

READ = "asset.read"
CONTENT: Mapping[str, Any] = {"content": {"application/octet-stream": {}}}
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {**CONTENT, "description": "The content"},
    206: {**CONTENT, "description": "The range named by `Range`"},
    307: {"description": "`Location` is a short-lived link to the content; follow it without credentials"},
}
OUT_OF_RANGE = Refusal(416, "OUT_OF_RANGE", "The content has only 5 bytes; request a lower range.")
Delivery = Literal["linked", "streamed"]


class NoSuchAsset(NotFound):
    """There is no such asset; read the id from a step's result."""


class TooLarge(Rejected):
    """This file is too large for an answer; download it."""

    code = "ASSET_TOO_LARGE"


@router.get("/v1/assets/{asset_id}", response_class=Response, responses=ANSWERS | raises(NoSuchAsset, OUT_OF_RANGE))
async def fetch(
    request: Request,
    here: Here,
    who: Authenticated,
    asset_id: Annotated[Id, Path()],
    range: Annotated[str | None, Header()] = None,
    if_range: Annotated[str | None, Header()] = None,
) -> Response:
    """Return the content of a file for download, or redirect (307) to a short-lived link."""
    cause, allowed, asset = await _permitted(here, who, asset_id)
    # Clients drop Authorization when redirected to another host, but keep X-API-Key.
    link = await _link(here, who, asset) if "x-api-key" not in request.headers else None
    delivery: Delivery = "streamed" if link is None else "linked"
    await record(here, who, cause, allowed, asset, delivery)
    if link is not None:
        return RedirectResponse(link)
    held = Access(here.identity, who, request, asset_id, partial(_visible, here))
    open = partial(here.platform.objects.open, asset.place(who.tenant), asset.sha256)
    return await streamed(held, asset, open, asked=range, if_range=if_range)


async def read(here: Files, who: Principal, asset_id: str, *, most: int) -> tuple[StoredAsset, bytes]:
    """Return a file with its content, under the same checks as a download.

    Raises:
        NotFound: there is no such file, or the caller does not see it.
        TooLarge: it has more than `most` bytes.
    """
    cause, allowed, asset = await _permitted(here, who, asset_id)
    if asset.size > most:
        raise TooLarge(f"this file has {asset.size} bytes, over {most}; download it at /v1/assets/{asset_id}")
    await record(here, who, cause, allowed, asset, "streamed")
    content = here.platform.objects.open(asset.place(who.tenant), asset.sha256, start=0, end=asset.size)
    return asset, b"".join([chunk async for chunk in content])


async def _permitted(here: Files, who: Principal, asset_id: str) -> tuple[Cause, ActionRecorded, StoredAsset]:
    cause = commands.cause_of(who)
    allowed = await commands.permitted(here, cause, who, READ)
    return cause, allowed, await _visible(here, who, asset_id)


async def record(
    here: Room, who: Principal, cause: Cause, allowed: ActionRecorded, asset: StoredAsset, delivery: Delivery
) -> None:
    """Record the decision, and to which principal the content goes; never the link."""
    done = commands.outcome(who, READ, delivery, f"asset:{asset.asset_id}", turn_id=asset.turn_id)
    record = allowed.model_copy(update={"resource": done.resource, "turn_id": asset.turn_id})
    await here.platform.writer.apply(Changeset(cause).emit(record, done))


async def _visible(here: Files, who: Principal, asset_id: str) -> StoredAsset:
    """Return a file that the caller may see: of a session, or an upload. Raises NoSuchAsset."""
    asset = await here.store.asset(who.tenant, asset_id, reader=access.reader(who))
    if asset is None:
        raise NoSuchAsset
    return asset


async def _link(here: Files, who: Principal, asset: StoredAsset) -> str | None:
    named = {"filename": asset.filename, "media_type": asset.media_type}
    return await here.platform.objects.link(asset.place(who.tenant), asset.sha256, **named)


async def streamed(
    held: Access,
    asset: StoredAsset,
    open: Callable[..., AsyncIterator[bytes]],
    *,
    asked: str | None,
    if_range: str | None,
) -> Response:
    """Return the content for download, or the range of it that is `asked`. `open` yields the bytes from `start` to
    before `end`.
    """
    try:
        some = part(asked if if_range in (None, _etag(asset)) else None, asset.size)
    except OutOfRange:
        nothing = {"Content-Range": f"bytes */{asset.size}"}
        return problem_details.document(
            416, "OUT_OF_RANGE", f"The content has only {asset.size} bytes; request a lower range.", headers=nothing
        )
    start, end = (some.start, some.stop) if some is not None else (0, asset.size)
    chunks = _delay_last(open(start=start, end=end))
    # Read before the head is sent, so that missing content is an error and not a truncated response.
    first = await anext(chunks)
    headers = _headers(asset) | {"Content-Length": str(end - start)}
    if some is not None:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{asset.size}"
    return Download(prepended(first, chunks), held, headers, status_code=200 if some is None else 206)


def _headers(asset: StoredAsset) -> dict[str, str]:
    return {
        "Content-Type": asset.media_type,
        "Content-Disposition": disposition(asset.filename),
        # A browser that opens the file must run nothing of it with the cookie of our origin.
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Accept-Ranges": "bytes",
        "ETag": _etag(asset),
    }


def _etag(asset: StoredAsset) -> str:
    return f'"{asset.sha256}"'


async def _delay_last(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Delay each chunk by one: the last is sent only after the whole was verified, so damaged content never looks
    complete.
    """
    held = b""
    async for chunk in chunks:
        if held:
            yield held
        held = chunk
    yield held
