"""The internal API: export, search and status of a tenant's chain.

The tenant comes from the internal token, never from the request (architecture.md 14).
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request
from fastapi.responses import StreamingResponse

from libs import ids
from libs.audit import Entry, export
from libs.bus.relay import lag
from libs.identity import internal
from libs.runtime import Platform, problem_details
from services.audit_worker.sealing import Sealer
from services.audit_worker.store import GROUP, Search, Store, empty_head

ROOT = "/internal/v1/audit"


@dataclass(frozen=True)
class RouteContext:
    """Dependencies of the routes."""

    platform: Platform
    store: Store
    sealer: Sealer

    async def lines(self, tenant: str) -> AsyncIterator[bytes]:
        """Return the lines of the whole chain. Seal its end first, also outside, so that a later truncation is
        detected.
        """
        now = self.platform.clock.now()
        head = await self.store.head(tenant) or empty_head(tenant, now)
        if head.count > head.sealed and tenant not in self.sealer.broken:
            await self.sealer.seal(head)
        # After the seal, whose checkpoint belongs to the export.
        checkpoints = await self.store.checkpoints(tenant)
        # Include checkpoints beyond the head: they are new, or prove that rows are missing.
        entries = self.store.entries(tenant, last=max([head.count, *(c.count for c in checkpoints)]))
        return export(self.platform.keys, tenant, entries, checkpoints, id=ids.new(), now=self.platform.clock.now())

    async def behind(self) -> int:
        """Count the records of all tenants that are on the bus and not chained yet."""
        return sum((await lag(self.platform.bus, self.platform.route, [GROUP])).values())


async def tenant_of(request: Request) -> str:
    """Return the tenant of the internal token. Raises BadToken."""
    platform: Platform = request.app.state.context.platform
    token = request.headers.get(internal.HEADER, "")
    return internal.verify(platform.keys, token, audience=GROUP, now=platform.clock.now()).tenant


async def context_of(request: Request) -> RouteContext:
    context: RouteContext = request.app.state.context
    return context


Tenant = Annotated[str, Depends(tenant_of)]
Context = Annotated[RouteContext, Depends(context_of)]


def build(platform: Platform, store: Store, sealer: Sealer) -> FastAPI:
    app = FastAPI(title="Suma audit", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.context = RouteContext(platform, store, sealer)
    app.add_api_route(f"{ROOT}/export", export_chain)
    app.add_api_route(f"{ROOT}/search", search_chain)
    app.add_api_route(f"{ROOT}/status", status)
    app.add_api_route("/healthz", health)
    problem_details.install(app)
    return app


async def export_chain(tenant: Tenant, context: Context) -> StreamingResponse:
    """Stream the JSON Lines of libs.audit.export. An export without its last line fails verification."""
    return StreamingResponse(await context.lines(tenant), media_type="application/jsonl")


async def search_chain(tenant: Tenant, context: Context, search: Annotated[Search, Query()]) -> dict[str, Any]:
    """Search the chain: {"records": [{"position", "link", "record"}], "next", "behind"}, newest first.

    `next` is the `before` of the next page; `behind` counts the records on the bus that are not chained yet.
    """
    found = await context.store.search(tenant, search)
    following = found[-1].position if len(found) == search.limit else None
    return {"records": [_shown(entry) for entry in found], "next": following, "behind": await context.behind()}


async def status(tenant: Tenant, context: Context) -> dict[str, Any]:
    """Report the length of this tenant's chain: {"count", "sealed", "sealed_at", "head", "behind"}."""
    head = await context.store.head(tenant) or empty_head(tenant, context.platform.clock.now())
    return {
        "count": head.count,
        "sealed": head.sealed,
        "sealed_at": head.since.isoformat() if head.sealed else None,
        "head": head.link.hex(),
        "behind": await context.behind(),
    }


async def health() -> dict[str, str]:
    return {"status": "ok"}


def _shown(entry: Entry) -> Mapping[str, Any]:
    return {"position": entry.position, "link": entry.link.hex(), "record": entry.record}
