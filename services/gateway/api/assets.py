"""Files that a conversation has made, such as results too large for an event.

Policy is asked, and what was done is recorded, before a byte or a link goes out. Where clients reach the object store a
link of a short life is given, so that large content does not pass through us; it stands in the answer alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from libs.changes import Changeset
from libs.errors import NotFound
from libs.events import ActionRecorded
from libs.identity import Principal
from libs.objects.content import disposition
from libs.runtime import problems
from libs.telemetry.logs import logger
from services.gateway.api import writes
from services.gateway.api.errors import PROBLEMS
from services.gateway.api.gateway import Gateway, Here
from services.gateway.api.models import Id
from services.gateway.api.security import Caller
from services.gateway.domain.ranges import OutOfRange, part
from services.gateway.store import Kept

log = logger("gateway")
router = APIRouter(tags=["assets"], responses=PROBLEMS)

READ = "asset.read"
CONTENT: Mapping[str, Any] = {"content": {"application/octet-stream": {}}}
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {**CONTENT, "description": "The content"},
    206: {**CONTENT, "description": "The part of it that `Range` names"},
    307: {"description": "`Location` is the content, for a short time: follow it without credentials"},
    416: {"description": "None of the bytes asked for is there"},
}
Given = Literal["linked", "streamed"]


class NoSuchAsset(NotFound):
    """There is no such asset."""


@router.get("/v1/assets/{asset_id}", response_class=Response, responses=ANSWERS)
async def fetch(
    request: Request,
    here: Here,
    who: Caller,
    asset_id: Annotated[Id, Path()],
    range: Annotated[str | None, Header()] = None,
    if_range: Annotated[str | None, Header()] = None,
) -> Response:
    """The content of a file, to be saved; or, with 307, where it is for a short time."""
    cause = writes.cause_of(who)
    allowed = await writes.permitted(here, cause, who, READ)
    asset = await here.store.asset(who.tenant, asset_id)
    if asset is None:
        raise NoSuchAsset
    # Clients take Authorization off a request that is sent on to another host. X-API-Key they do not.
    link = await _link(here, who, asset) if "x-api-key" not in request.headers else None
    given: Given = "streamed" if link is None else "linked"
    done = _recorded(who, asset, given)
    record = allowed.model_copy(update={"resource": done.resource, "turn_id": asset.turn_id})
    await here.platform.writer.apply(Changeset(cause).say(record, done))
    if link is not None:
        return RedirectResponse(link)
    return await _streamed(here, who, asset, range if if_range in (None, _etag(asset)) else None)


async def _link(here: Gateway, who: Principal, asset: Kept) -> str | None:
    named = {"filename": asset.filename, "media_type": asset.media_type}
    return await here.platform.objects.link(who.tenant, asset.sha256, **named)


def _recorded(who: Principal, asset: Kept, given: Given) -> ActionRecorded:
    """That it was given, and to whom; never the link."""
    return ActionRecorded(
        action=READ,
        phase="outcome",
        verdict=given,
        principal=who.id,
        resource=f"asset:{asset.asset_id}",
        turn_id=asset.turn_id,
    )


async def _streamed(here: Gateway, who: Principal, asset: Kept, asked: str | None) -> Response:
    try:
        some = part(asked, asset.size)
    except OutOfRange:
        nothing = {"Content-Range": f"bytes */{asset.size}"}
        return problems.document(416, "OUT_OF_RANGE", f"The content has {asset.size} bytes.", headers=nothing)
    start, end = (some.start, some.stop) if some is not None else (0, asset.size)
    chunks = _one_behind(here.platform.objects.open(who.tenant, asset.sha256, start=start, end=end))
    # Before the head is sent: what is missing or cannot be had is a refusal, not a broken answer.
    first = await anext(chunks)
    headers = _headers(asset) | {"Content-Length": str(end - start)}
    if some is not None:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{asset.size}"
    status = 200 if some is None else 206
    return _Sent(_after(first, chunks), status, headers, patience=here.settings.send_seconds)


def _headers(asset: Kept) -> dict[str, str]:
    return {
        "Content-Type": asset.media_type,
        "Content-Disposition": disposition(asset.filename),
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Accept-Ranges": "bytes",
        "ETag": _etag(asset),
    }


def _etag(asset: Kept) -> str:
    return f'"{asset.sha256}"'


async def _one_behind(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same, but the last one only once all of it was checked: what is damaged never looks whole."""
    held = b""
    async for chunk in chunks:
        if held:
            yield held
        held = chunk
    yield held


async def _after(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


class _Sent(StreamingResponse):
    """Content that lets go of whoever takes nothing of it for `patience` seconds."""

    def __init__(
        self, content: AsyncIterator[bytes], status: int, headers: Mapping[str, str], *, patience: float
    ) -> None:
        super().__init__(content, status, headers)
        self._patience = patience

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except (TimeoutError, ClientDisconnect):
            log.warning("whoever fetched a file has left, or took nothing", path=scope["path"])

    @override
    async def stream_response(self, send: Send) -> None:
        async def give(message: Any) -> None:
            async with asyncio.timeout(self._patience):
                await send(message)

        await super().stream_response(give)
