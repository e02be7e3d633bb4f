"""The challenges of 401 and 403 (RFC 6750): what to send, and where to get it."""

from __future__ import annotations

from libs.identity.roles import BUNDLES, Role
from services.gateway.http.urls import MCP, METADATA
from services.gateway.settings import Oidc

SCOPES = sorted(BUNDLES[Role.USER])
"""The scopes to ask for: those of daily use. A token may hold others."""


def challenge(value: str, own: str, path: str, oidc: Oidc) -> str:
    """Return a bearer challenge with the scopes to ask for, and the address of the metadata if there is an issuer."""
    wanted = "" if "scope=" in value else f', scope="{" ".join(SCOPES)}"'
    if oidc.issuer is None:
        return f"{value}{wanted}"
    resource = MCP if path == MCP else ""
    return f'{value}{wanted}, resource_metadata="{own}{METADATA}{resource}"'
