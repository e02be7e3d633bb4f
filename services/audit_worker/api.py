"""The internal API: a tenant's chain exported as a proof, searched, and how far it has come.

The tenant is the one in the internal token, never one in the request (DESIGN §13).
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import AwareDatetime

from libs import ids
from libs.audit import Entry, export
from libs.identity import internal
from libs.runtime import problems
from libs.runtime.platform import Platform
from services.audit_worker.sealing import Sealer
from services.audit_worker.store import GROUP, Store, Wanted, empty

PORT = 9697
ROOT = "/internal/v1/audit"


@dataclass(frozen=True)
class Desk:
    """What the routes need at hand."""

    platform: Platform
    store: Store
    sealer: Sealer

    async def lines(self, tenant: str) -> AsyncIterator[bytes]:
        """The whole chain, its end sealed anew: outside too, so that a tail that is cut later is missed."""
        now = self.platform.clock.now()
        head = await self.store.head(tenant) or empty(tenant, now)
        if head.count > head.sealed:
            await self.sealer.seal(head)
        checkpoints = await self.store.checkpoints(tenant)
        # Also beyond the head: a checkpoint there was made meanwhile, or tells of rows that are gone.
        entries = self.store.entries(tenant, last=max([head.count, *(c.count for c in checkpoints)]))
        return export(self.platform.keys, tenant, entries, checkpoints, id=ids.new(), now=self.platform.clock.now())

    async def behind(self) -> int:
        """Records on the bus that are not chained yet, of all tenants."""
        return sum((await self.platform.bus.lag([GROUP])).values())


async def tenant_of(request: Request) -> str:
    """Raises BadToken."""
    platform: Platform = request.app.state.desk.platform
    token = request.headers.get(internal.HEADER, "")
    return internal.verify(platform.keys, token, audience=GROUP, now=platform.clock.now()).tenant


async def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


Tenant = Annotated[str, Depends(tenant_of)]
At = Annotated[Desk, Depends(desk_of)]


def build(platform: Platform, store: Store, sealer: Sealer) -> FastAPI:
    app = FastAPI(title="Suma audit", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.desk = Desk(platform, store, sealer)
    app.add_api_route(f"{ROOT}/export", exported)
    app.add_api_route(f"{ROOT}/search", searched)
    app.add_api_route(f"{ROOT}/status", status)
    app.add_api_route("/healthz", health)
    problems.install(app)
    return app


async def exported(tenant: Tenant, desk: At) -> StreamingResponse:
    """JSON Lines as libs.audit.export writes them; without its last line the export proves nothing, and says so."""
    return StreamingResponse(await desk.lines(tenant), media_type="application/jsonl")


async def searched(
    tenant: Tenant,
    desk: At,
    action: str | None = None,
    verdict: str | None = None,
    principal: str | None = None,
    session: str | None = None,
    turn: str | None = None,
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    before: Annotated[int | None, Query(ge=1)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> dict[str, Any]:
    """{"records": [{"position", "link", "record"}], "next", "behind"}, newest first.

    `next` is the `before` of the next page; `behind` counts what was said on the bus and is not chained yet."""
    wanted = Wanted(action, verdict, principal, session, turn, since, until)
    found = await desk.store.search(tenant, wanted, before=before, most=limit)
    following = found[-1].position if len(found) == limit else None
    return {"records": [_shown(entry) for entry in found], "next": following, "behind": await desk.behind()}


async def status(tenant: Tenant, desk: At) -> dict[str, Any]:
    """{"count", "sealed", "sealed_at", "head", "behind"}: how far this tenant's chain has come."""
    head = await desk.store.head(tenant) or empty(tenant, desk.platform.clock.now())
    return {
        "count": head.count,
        "sealed": head.sealed,
        "sealed_at": head.since.isoformat() if head.sealed else None,
        "head": head.link.hex(),
        "behind": await desk.behind(),
    }


async def health() -> dict[str, str]:
    return {"status": "ok"}


def _shown(entry: Entry) -> Mapping[str, Any]:
    return {"position": entry.position, "link": entry.link.hex(), "record": entry.record}
