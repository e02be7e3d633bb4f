"""Sessions, turns, assets, memory and the head of the audit log as resources, each with the checks of its own route."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import orjson
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from pydantic import TypeAdapter, ValidationError

from libs.errors import NotFound, SumaError
from services.gateway.files import assets
from services.gateway.http.models import Id, ResponseModel
from services.gateway.identity import access
from services.gateway.identity.reading import MEMORY
from services.gateway.memory import routes as memory
from services.gateway.multimodal import routes as multimodal
from services.gateway.operators import audit
from services.gateway.sessions.models import SessionShown, TurnShown
from services.gateway.surfaces.mcp import errors, skills
from services.gateway.surfaces.mcp.tool_calls import Call, Context

JSON = "application/json"
SESSIONS, TURNS, ASSETS = "suma://sessions/", "suma://turns/", "suma://assets/"
MADE = "suma://multimodal/assets/"
AUDIT = "suma://audit/head"
FACTS, MEMORIES = "suma://memory/facts", "suma://memory/memories"
PAGE = 50
TURNS_MOST = 100
BYTES_MOST = 1 << 20
"""Bytes of a file that travel inside an answer; a larger one is downloaded."""
TEMPLATES = (
    ResourceTemplate(
        name="session",
        uri_template=f"{SESSIONS}{{session_id}}",
        description="A session with its first turns",
        mime_type=JSON,
    ),
    ResourceTemplate(
        name="turn", uri_template=f"{TURNS}{{turn_id}}", description="A turn and its answer", mime_type=JSON
    ),
    ResourceTemplate(
        name="asset",
        uri_template=f"{ASSETS}{{asset_id}}",
        description=f"A result or an upload of at most {BYTES_MOST} bytes",
    ),
    ResourceTemplate(
        name="multimodal asset",
        uri_template=f"{MADE}{{asset_id}}",
        description=f"A picture or document of at most {BYTES_MOST} bytes",
    ),
)
_ID: TypeAdapter[str] = TypeAdapter(Id)


class NoSuchResource(NotFound):
    """There is no such resource; list the resources."""


class SessionContent(ResponseModel):
    """The contents of a session's resource."""

    session: SessionShown
    turns: list[TurnShown]


async def list_resources(context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
    """List skills, memory and the audit log on the first page, and the caller's sessions, newest first."""
    call, before = Call.of(context), params.cursor if params is not None else None
    found = await call.here.store.sessions(
        call.who.tenant, reader=access.reader(call.who), before=_cursor(before), most=PAGE
    )
    first = [*skills.resources(call.here.platform.skills), *_memory(call), *_audit(call)] if before is None else []
    listed = [
        Resource(
            name=one.title or one.session_id, uri=f"{SESSIONS}{one.session_id}", description=one.root, mime_type=JSON
        )
        for one in found
    ]
    return ListResourcesResult(
        resources=[*first, *listed], next_cursor=found[-1].session_id if len(found) == PAGE else None
    )


async def list_templates(context: Context, params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
    return ListResourceTemplatesResult(resource_templates=list(TEMPLATES))


async def read_resource(context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
    call = Call.of(context)
    try:
        kind, raw = await _content(call, params.uri)
    except SumaError as error:
        assert context.request is not None
        await errors.note(call.here, context.request, error)
        errors.raised(error, context.protocol_version)
    return ReadResourceResult(contents=[_shown(params.uri, kind, raw)])


async def _content(call: Call, uri: str) -> tuple[str, bytes]:
    """Return the media type and the bytes of a resource."""
    here, who = call.here, call.who
    if uri.startswith(skills.SCHEME):
        return skills.content(here.platform.skills, uri)
    if uri.startswith(SESSIONS):
        session = await here.readable(who, _id(uri, SESSIONS))
        found = await here.store.turns(who.tenant, session.session_id, after=None, most=TURNS_MOST)
        return JSON, _written(SessionContent(session=session, turns=found))
    if uri.startswith(TURNS):
        return JSON, _written(await call.turns.turn(_id(uri, TURNS)))
    if uri.startswith(ASSETS):
        asset, raw = await assets.read(here.files, who, _id(uri, ASSETS), most=BYTES_MOST)
        return asset.media_type, raw
    if uri.startswith(MADE):
        return await multimodal.read(here, who, _id(uri, MADE), most=BYTES_MOST)
    if uri in (FACTS, MEMORIES):
        await here.identity.reads.check(who, MEMORY)
        return JSON, _written(await (memory.facts if uri == FACTS else memory.latest)(here, who))
    if uri == AUDIT:
        return JSON, _written(await audit.state(here, who))
    raise NoSuchResource


def _memory(call: Call) -> Sequence[Resource]:
    if not call.who.may("memory"):
        return ()
    return (
        Resource(name="facts", uri=FACTS, description="What is known of the caller", mime_type=JSON),
        Resource(name="memories", uri=MEMORIES, description="The caller's latest memories", mime_type=JSON),
    )


def _audit(call: Call) -> Sequence[Resource]:
    if not access.grants(call.who, audit.READ):
        return ()
    about = "The length, newest link and checkpoint of the tenant's audit chain"
    return (Resource(name="audit head", uri=AUDIT, description=about, mime_type=JSON),)


def _shown(uri: str, kind: str, raw: bytes) -> TextResourceContents | BlobResourceContents:
    if kind.startswith("text/") or kind == JSON:
        try:
            return TextResourceContents(uri=uri, mime_type=kind, text=raw.decode())
        except UnicodeDecodeError:
            pass
    return BlobResourceContents(uri=uri, mime_type=kind, blob=base64.b64encode(raw).decode())


def _written(shown: ResponseModel) -> bytes:
    return orjson.dumps(shown.model_dump(mode="json"))


def _id(uri: str, scheme: str) -> str:
    try:
        return _ID.validate_python(uri.removeprefix(scheme))
    except ValidationError:
        raise NoSuchResource from None


def _cursor(given: str | None) -> str | None:
    """Return the session before which a page begins. Raises MCPError."""
    try:
        return given if given is None else _ID.validate_python(given)
    except ValidationError:
        raise MCPError(code=INVALID_PARAMS, message="the cursor is not one of this server") from None
