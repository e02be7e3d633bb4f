"""Multimodal jobs, their assets and the capabilities behind them.

A job is a turn whose id it has. The gateway's projection tells its plan and its steps; the tool executor keeps the
attempts, the assets and their provenance.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Header, Path, Query, Request, Response

from libs.changes import Cause
from libs.clients import multimodal
from libs.errors import NotFound
from libs.events import ActionRecorded
from libs.identity import Principal
from libs.multimodal.compiler import planned
from libs.multimodal.dsl import PlanRefused
from libs.telemetry import span
from services.gateway.files import assets
from services.gateway.files.assets import ANSWERS, OUT_OF_RANGE
from services.gateway.files.store import StoredAsset
from services.gateway.http import commands
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.commands import IdempotencyKey, IdempotentRequest
from services.gateway.http.errors import Refusal, raises
from services.gateway.http.models import Id
from services.gateway.http.urls import base
from services.gateway.identity import access
from services.gateway.identity import links as asset_links
from services.gateway.identity.lasting_access import Access, AccessChanged
from services.gateway.identity.security import Authenticated, CanBrowse, CanChat, CanRead
from services.gateway.identity.signin import KeyNeeded, key_id_of
from services.gateway.multimodal.jobs import file_name, job_of, links
from services.gateway.multimodal.models import (
    AssetLink,
    CapabilityList,
    CapabilityShown,
    Job,
    JobAccepted,
    JobList,
    NewJob,
    NewLink,
    Provenance,
)
from services.gateway.multimodal.store import JobStore
from services.gateway.sessions.commanded import COMMANDED
from services.gateway.sessions.context import Here, ReadOnly, Sessions
from services.gateway.sessions.models import Cancel, Commanded, FirstMessage, TurnShown
from services.gateway.sessions.routes import (
    SENDING,
    NoSuchTurn,
    TurnOver,
    cancel_turn,
    ended,
    send_message,
    turn_of,
)

router = APIRouter(route_class=StrictRoute, tags=["multimodal"])

CONTENT: dict[int | str, dict[str, Any]] = {code: ANSWERS[code] for code in (200, 206)}
JobId = Annotated[Id, Path()]
AssetId = Annotated[Id, Path()]
State = Literal["open", "completed", "refused", "failed", "cancelled"]


PLAN_REFUSED = Refusal(
    422, "PLAN_REFUSED", 'Step "srs": it depends on "charts", which is no task; the tasks are chart.'
)


class Disabled(NotFound):
    """Pictures and documents are not enabled here; set SA01_ENABLE_multimodal_capabilities=true and restart."""

    code = "MULTIMODAL_DISABLED"


class NoSuchJob(NotFound):
    """There is no such job; list the jobs."""

    code = "NO_SUCH_JOB"


class NoSuchResult(NotFound):
    """There is no such asset; read the id from a job."""

    code = "NO_SUCH_ASSET"


@router.post(
    "/v1/multimodal/jobs",
    status_code=202,
    responses=raises(Disabled, PLAN_REFUSED, *SENDING),
)
async def begin(
    request: Request, here: Here, who: Authenticated, body: NewJob, key: IdempotencyKey = None
) -> JobAccepted:
    """Begin a job, in words or as a Task DSL document. It is durable once this answers. A document that cannot run is
    refused with all its problems.
    """
    if not here.platform.skills.multimodal:
        raise Disabled
    # All that follows is below this span, in any process. It ends here: no process lives as long as a job.
    with span("multimodal_job") as job:
        message = await _message_of(here, who, body)
        sent = await send_message(here, who, IdempotentRequest.of(request, key, body), message, job=True)
        job.set_attribute("job_id", sent.turn_id)
    return JobAccepted(
        job_id=sent.turn_id,
        session_id=sent.session_id,
        after=sent.after,
        links=links(sent.session_id, sent.turn_id, after=sent.after),
    )


@router.get("/v1/multimodal/jobs")
async def list_jobs(
    here: Here,
    who: CanRead,
    state: Annotated[State | None, Query(description="Only jobs in this state; `open`: those that go on")] = None,
    before: Id | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> JobList:
    """List the jobs of the sessions that the caller sees, newest first."""
    found = await JobStore(here.platform.database).jobs(
        who.tenant, reader=access.reader(who), state=state, before=before, most=limit
    )
    return JobList(jobs=list(found), next=found[-1].job_id if len(found) == limit else None)


@router.get("/v1/multimodal/jobs/{job_id}", responses=raises(NoSuchJob, AccessChanged))
async def read_job(
    request: Request,
    here: Here,
    who: CanRead,
    job_id: JobId,
    wait: Annotated[float, Query(ge=0, description="Seconds to wait for the job to end")] = 0,
) -> Job:
    """Return a job with its steps, their attempts and assets, warnings and costs."""
    turn = await _job(here, who, job_id)
    if wait and turn.ended_at is None:
        held = here.access(who, request, turn.session_id)
        wait = min(wait, here.settings.wait_most)
        turn = await ended(here, held, job_id, wait=wait, repeated=True) or await _job(here, who, job_id)
    events = await JobStore(here.platform.database).events(who.tenant, turn.session_id, job_id)
    return job_of(turn, events, await multimodal.executions(here.platform, who.tenant, job_id))


@router.post(
    "/v1/multimodal/jobs/{job_id}/cancel",
    response_model=Commanded,
    responses=COMMANDED | raises(NoSuchJob, ReadOnly, TurnOver),
)
async def cancel(
    request: Request,
    response: Response,
    here: Here,
    who: CanChat,
    job_id: JobId,
    body: Cancel | None = None,
    key: IdempotencyKey = None,
) -> Commanded:
    """Cancel a job: its running step stops, and nothing that it staged is kept."""
    await _job(here, who, job_id)
    done = await cancel_turn(here, who, IdempotentRequest.of(request, key, body), job_id, body or Cancel())
    response.status_code = 200 if done.outcome else 202
    return done


@router.get(
    "/v1/multimodal/assets/{asset_id}",
    response_class=Response,
    responses=CONTENT | raises(NoSuchResult, OUT_OF_RANGE),
)
async def fetch(
    request: Request,
    here: Here,
    who: Authenticated,
    asset_id: AssetId,
    range: Annotated[str | None, Header()] = None,
    if_range: Annotated[str | None, Header()] = None,
    link: Annotated[str | None, Query(description="A link's own part, instead of credentials")] = None,
) -> Response:
    """Return the content of an asset for download. No browser runs a script of it with the caller's rights."""
    cause, allowed, asset = await _permitted(here, who, asset_id)
    await assets.record(here, who, cause, allowed, asset, "streamed")
    held = Access(here.identity, who, request, asset_id, partial(asset_of, here))
    open = partial(multimodal.content, here.platform, who.tenant, asset_id)
    return await assets.streamed(held, asset, open, asked=range, if_range=if_range)


@router.post("/v1/multimodal/assets/{asset_id}/link", status_code=201, responses=raises(NoSuchResult, KeyNeeded))
async def make_link(
    request: Request, here: Here, who: Authenticated, asset_id: AssetId, body: NewLink | None = None
) -> AssetLink:
    """Make a link that returns the content without a key until it expires, for programs that cannot send one. It ends
    with the key that made it.
    """
    cause, allowed, asset = await _permitted(here, who, asset_id)
    path = f"{ROOT}/{asset_id}"
    try:
        key_id = key_id_of(who, "key", "web")
    except KeyNeeded:
        raise KeyNeeded(
            f"a link ends with the API key that made it, and a token has none; download {path} with the token, or make "
            "the link with an API key"
        ) from None
    ends = int(here.platform.clock.now().timestamp()) + _lifetime(here, body)
    if who.expires is not None:
        ends = min(ends, int(who.expires.timestamp()))
    token = asset_links.made(here.platform.keys, key_id=key_id, path=path, expires=ends)
    await assets.record(here, who, cause, allowed, asset, "linked")
    own = base(request.url.scheme, request.headers["host"], here.settings.public_url)
    return AssetLink(url=f"{own}{path}?{asset_links.PARAMETER}={token}", expires_at=datetime.fromtimestamp(ends, UTC))


@router.get("/v1/multimodal/assets/{asset_id}/provenance", responses=raises(NoSuchResult))
async def provenance(here: Here, who: CanRead, asset_id: AssetId) -> Provenance:
    """Return where an asset comes from: tool, provider, parameters, sources and person."""
    found = await asset_of(here, who, asset_id)
    stored = _stored(found)
    return Provenance(
        asset_id=asset_id,
        job_id=found["turn_id"],
        session_id=found["session_id"],
        title=found["title"],
        media_type=stored.media_type,
        size=stored.size,
        sha256=stored.sha256,
        provenance=found["provenance"],
    )


@router.get("/v1/multimodal/capabilities")
async def list_capabilities(here: Here, who: CanBrowse) -> CapabilityList:
    """List what makes pictures and documents here, with its formats, cost, time and health."""
    if not here.platform.skills.multimodal:
        return CapabilityList(enabled=False, problem=str(Disabled()), capabilities=[])
    found = await multimodal.capabilities(here.platform, who.tenant)
    known = [CapabilityShown.model_validate(one) for one in found]
    return CapabilityList(enabled=True, problem="", capabilities=known)


async def read(here: Sessions, who: Principal, asset_id: str, *, most: int) -> tuple[str, bytes]:
    """Return the media type and the content of an asset, under the same checks as a download.

    Raises:
        NotFound: there is no such asset, or the caller does not see it.
        TooLarge: it has more than `most` bytes.
    """
    cause, allowed, asset = await _permitted(here, who, asset_id)
    if asset.size > most:
        raise assets.TooLarge(f"this asset has {asset.size} bytes, over {most}; download it at {ROOT}/{asset_id}")
    await assets.record(here, who, cause, allowed, asset, "streamed")
    chunks = multimodal.content(here.platform, who.tenant, asset_id, start=0, end=asset.size)
    return asset.media_type, b"".join([chunk async for chunk in chunks])


ROOT = "/v1/multimodal/assets"


async def asset_of(here: Sessions, who: Principal, asset_id: str) -> dict[str, Any]:
    """Return the row of an asset of a session that the caller reads. Raises NotFound, also for one of others."""
    try:
        found: dict[str, Any] = await multimodal.asset(here.platform, who.tenant, asset_id)
        turn = await turn_of(here, who, str(found["turn_id"]))
    except NotFound:
        raise NoSuchResult from None
    return {**found, "session_id": turn.session_id}


async def _message_of(here: Sessions, who: Principal, body: NewJob) -> FirstMessage:
    """Return the message that begins a job. Raises PlanRefused for a document that cannot run."""
    text, title = body.request or "", body.title
    if body.plan is not None:
        text = orjson.dumps(body.plan).decode()
        plan = await asyncio.to_thread(planned, text, here.platform.skills.tools_for(who.tenant))
        if plan is None:
            raise PlanRefused(['The plan has no version and tasks; write {"version": "1.0", "tasks": […]}.'])
        title = title or plan.steps[-1].description[:200] or None
    return FirstMessage(
        text=text,
        session_id=body.session_id,
        title=title if body.session_id is None else None,
        root=body.root,
        hitl=body.hitl,
    )


async def _job(here: Sessions, who: Principal, job_id: str) -> TurnShown:
    """Return the turn of a job that the caller reads. Raises NoSuchJob, also for one of others."""
    try:
        turn = await turn_of(here, who, job_id)
    except NoSuchTurn:
        raise NoSuchJob from None
    if not await JobStore(here.platform.database).is_job(who.tenant, job_id):
        raise NoSuchJob
    return turn


async def _permitted(here: Sessions, who: Principal, asset_id: str) -> tuple[Cause, ActionRecorded, StoredAsset]:
    """Return the asset of a session that the caller reads, and the record of policy's yes. Policy is asked first."""
    cause = commands.cause_of(who)
    allowed = await commands.permitted(here, cause, who, assets.READ)
    return cause, allowed, _stored(await asset_of(here, who, asset_id))


def _lifetime(here: Sessions, asked: NewLink | None) -> int:
    most = here.settings.link_seconds
    return most if asked is None or asked.seconds is None else min(asked.seconds, most)


def _stored(found: dict[str, Any]) -> StoredAsset:
    return StoredAsset(
        asset_id=found["id"],
        session_id=found["session_id"],
        turn_id=found["turn_id"],
        filename=file_name(found["title"], found["media_type"]),
        media_type=found["media_type"],
        sha256=found["sha256"],
        size=found["size"],
        principal=None,
    )
