"""OAuth 2.0 for clients: where to get a token (RFC 9728)."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import Field

from libs.errors import NotFound
from services.gateway.http.challenges import SCOPES
from services.gateway.http.errors import raises
from services.gateway.http.models import ResponseModel
from services.gateway.http.urls import MCP, METADATA, base
from services.gateway.identity.context import Here, Identity

router = APIRouter(tags=["identity"])


class NoIssuer(NotFound):
    """No issuer of tokens is configured; use an API key."""

    code = "NO_ISSUER"


class ProtectedResource(ResponseModel):
    """The metadata of this server as a protected resource (RFC 9728)."""

    resource: str = Field(examples=["https://suma.example"])
    authorization_servers: list[str]
    """The issuers whose tokens it accepts."""
    scopes_supported: list[str]
    bearer_methods_supported: tuple[str, ...] = ("header",)
    resource_name: str = "Suma"
    resource_documentation: str


@router.get(METADATA, responses=raises(NoIssuer))
async def protected_resource(request: Request, here: Here) -> ProtectedResource:
    """Describe how to get a token for this server."""
    return _resource(request, here, "")


@router.get(f"{METADATA}{MCP}", responses=raises(NoIssuer))
async def protected_mcp(request: Request, here: Here) -> ProtectedResource:
    """Describe how to get a token for the MCP endpoint; MCP clients read it before the one of the server."""
    return _resource(request, here, MCP)


def _resource(request: Request, here: Identity, path: str) -> ProtectedResource:
    own, issuer = base(request.url.scheme, request.headers["host"], here.settings.public_url), here.settings.oidc.issuer
    if issuer is None:
        raise NoIssuer
    return ProtectedResource(
        resource=f"{own}{path}",
        authorization_servers=[issuer],
        scopes_supported=SCOPES,
        resource_documentation=f"{own}/docs",
    )
