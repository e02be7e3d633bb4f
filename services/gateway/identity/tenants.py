"""Administration of tenants, by the platform's own tenant, and of principals (docs/identity.md)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from libs.errors import Rejected
from services.gateway.http import commands
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.errors import raises
from services.gateway.http.models import Id
from services.gateway.identity.context import Here
from services.gateway.identity.directory import NoSuchPrincipal, NoSuchTenant
from services.gateway.identity.key_routes import READ as KEYS_READ
from services.gateway.identity.key_routes import Tenant, permit
from services.gateway.identity.models import (
    Disabled,
    NewTenant,
    PrincipalId,
    PrincipalList,
    TenantList,
    TenantShown,
)
from services.gateway.identity.security import Authenticated
from services.gateway.identity.signin import record

router = APIRouter(route_class=StrictRoute, tags=["identity"])

READ, WRITE = "admin.tenants.read", "admin.tenants.write"
Limit = Annotated[int, Query(ge=1, le=500)]
TenantName = Annotated[Id, Path()]
PrincipalName = Annotated[PrincipalId, Path()]


class TenantExists(Rejected):
    """This tenant already exists; list the tenants."""

    code = "TENANT_EXISTS"


class Yourself(Rejected):
    """You cannot disable yourself or your own tenant; ask another administrator."""

    code = "YOURSELF"


@router.get("/v1/admin/tenants")
async def list_tenants(here: Here, who: Authenticated, after: Id | None = None, limit: Limit = 100) -> TenantList:
    """List the tenants by id. Only the platform's own tenant may."""
    await commands.record_access(here, who, READ)
    found = await here.directory.tenants(after=after, most=limit)
    return TenantList(
        tenants=found,
        next=found[-1].tenant if len(found) == limit else None,
        as_of=here.platform.clock.now(),
    )


@router.post("/v1/admin/tenants", status_code=201, responses=raises(TenantExists))
async def create_tenant(here: Here, who: Authenticated, body: NewTenant) -> TenantShown:
    """Create a tenant. Give it a first key with POST /v1/admin/keys and its `tenant`."""
    await commands.record_access(here, who, WRITE, f"tenant:{body.tenant}")
    made = await here.directory.put_tenant(body.tenant, name=body.name)
    if made is None:
        raise TenantExists
    await record(here, who, "identity.tenant_created", f"tenant:{body.tenant}")
    return made


@router.post("/v1/admin/tenants/{tenant}/disable", responses=raises(NoSuchTenant, Yourself))
async def disable_tenant(here: Here, who: Authenticated, tenant: TenantName) -> Disabled:
    """Refuse every credential of a tenant, at once, until it is enabled. Its data stays. Safe to repeat."""
    await commands.record_access(here, who, WRITE, f"tenant:{tenant}")
    if tenant == who.tenant:
        raise Yourself
    await here.directory.disable_tenant(tenant)
    await record(here, who, "identity.tenant_disabled", f"tenant:{tenant}")
    return Disabled(id=tenant, disabled=True)


@router.post("/v1/admin/tenants/{tenant}/enable", responses=raises(NoSuchTenant))
async def enable_tenant(here: Here, who: Authenticated, tenant: TenantName) -> Disabled:
    """Accept a tenant's credentials again. Safe to repeat."""
    await commands.record_access(here, who, WRITE, f"tenant:{tenant}")
    await here.directory.enable_tenant(tenant)
    await record(here, who, "identity.tenant_enabled", f"tenant:{tenant}")
    return Disabled(id=tenant, disabled=False)


@router.get("/v1/admin/principals")
async def list_principals(
    here: Here, who: Authenticated, tenant: Tenant = None, after: PrincipalId | None = None, limit: Limit = 100
) -> PrincipalList:
    """List the principals of the tenant by id."""
    of = await permit(here, who, tenant, KEYS_READ)
    found = await here.keys.principals(of, after=after, most=limit)
    return PrincipalList(
        principals=found,
        next=found[-1].principal if len(found) == limit else None,
        as_of=here.platform.clock.now(),
    )


@router.post("/v1/admin/principals/{principal}/disable", responses=raises(NoSuchPrincipal, Yourself))
async def disable_principal(
    here: Here, who: Authenticated, principal: PrincipalName, tenant: Tenant = None
) -> Disabled:
    """Refuse every credential of a principal, at once, until it is enabled. Safe to repeat."""
    of = await permit(here, who, tenant)
    if (of, principal) == (who.tenant, who.id):
        raise Yourself
    await here.directory.disable_principal(of, principal)
    await record(here, who, "identity.principal_disabled", f"principal:{principal}")
    return Disabled(id=principal, disabled=True)


@router.post("/v1/admin/principals/{principal}/enable", responses=raises(NoSuchPrincipal))
async def enable_principal(here: Here, who: Authenticated, principal: PrincipalName, tenant: Tenant = None) -> Disabled:
    """Accept a principal's credentials again. Safe to repeat."""
    of = await permit(here, who, tenant)
    await here.directory.enable_principal(of, principal)
    await record(here, who, "identity.principal_enabled", f"principal:{principal}")
    return Disabled(id=principal, disabled=False)
