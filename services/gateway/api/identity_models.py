"""Models of identity: the caller, sign-in, keys, tenants and principals."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from services.gateway.api.models import ResponseModel


class SignedInWith(StrEnum):
    KEY = "key"
    WEB = "web"


class Me(ResponseModel):
    """The caller. `scopes` includes those of its roles; `*` stands for all."""

    tenant: str = Field(examples=["local"])
    principal: str = Field(examples=["owner"])
    roles: list[str] = Field(examples=[["admin"]])
    scopes: list[str] = Field(examples=[["*"]])
    signed_in_with: SignedInWith
    """An API key, or `web`: the cookie of a browser that a key signed in."""
    key_id: str
    expires_at: datetime | None


class SignInCode(ResponseModel):
    """A one-time sign-in code: the bearer token of POST /v1/signin. `url` opens the web UI with it."""

    code: str = Field(examples=["suma_code_…"])
    url: str = Field(examples=["http://127.0.0.1:8010/?code=suma_code_…"])
    expires_at: datetime
