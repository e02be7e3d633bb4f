"""OAuth 2.0 for clients: where to get a token (RFC 9728), and the challenges of 401 and 403 (RFC 6750)."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import Field

from libs.identity.roles import BUNDLES, Role
from services.gateway.api.context import Gateway, Here
from services.gateway.api.models import ResponseModel
from services.gateway.domain.claims import GRANTABLE
from services.gateway.domain.urls import MCP, METADATA, base

router = APIRouter(tags=["identity"])


class ProtectedResource(ResponseModel):
    """The metadata of this server as a protected resource (RFC 9728)."""

    resource: str = Field(examples=["https://suma.example"])
    authorization_servers: list[str]
    """The issuers whose tokens it accepts; none: only its own API keys."""
    scopes_supported: list[str]
    bearer_methods_supported: tuple[str, ...] = ("header",)
    resource_name: str = "Suma"
    resource_documentation: str


@router.get(METADATA)
async def protected_resource(request: Request, here: Here) -> ProtectedResource:
    """Describe how to get a token for this server."""
    return _resource(request, here, "")


@router.get(f"{METADATA}{MCP}")
async def protected_mcp(request: Request, here: Here) -> ProtectedResource:
    """Describe how to get a token for the MCP endpoint; MCP clients read it before the one of the server."""
    return _resource(request, here, MCP)


def _resource(request: Request, here: Gateway, path: str) -> ProtectedResource:
    own, oidc = base(request.url.scheme, request.headers["host"], here.settings.public_url), here.settings.oidc
    return ProtectedResource(
        resource=f"{own}{path}",
        authorization_servers=[oidc.issuer] if oidc.issuer is not None else [],
        scopes_supported=sorted(GRANTABLE),
        resource_documentation=f"{own}/docs",
    )


def challenge(value: str, own: str, path: str) -> str:
    """Return a bearer challenge with the address of the metadata, and the scopes to ask for."""
    resource = MCP if path == MCP else ""
    wanted = "" if "scope=" in value else f', scope="{" ".join(sorted(BUNDLES[Role.USER]))}"'
    return f'{value}{wanted}, resource_metadata="{own}{METADATA}{resource}"'
