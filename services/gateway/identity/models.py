"""Models of identity: the caller, sign-in, keys, tenants and principals."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, StringConstraints, model_validator

from libs.identity import Role
from services.gateway.http.models import Id, RequestModel, ResponseModel

Name = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Scope = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.:-]{0,99}$|^\*$")]
TenantId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
OVERLAP_MOST = 90 * 86_400


def _sorted(scopes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(scopes)))


class SignedInWith(StrEnum):
    KEY = "key"
    WEB = "web"
    JWT = "jwt"


class Me(ResponseModel):
    """The caller. `scopes` includes those of its roles; `*` means all."""

    tenant: str = Field(examples=["local"])
    principal: str = Field(examples=["owner"])
    roles: list[str] = Field(examples=[["admin"]])
    scopes: list[str] = Field(examples=[["*"]])
    grantable: list[str] = Field(examples=[["chat", "files:read"]])
    """The scopes that a key created by this caller may have."""
    signed_in_with: SignedInWith
    """An API key, `web`: the cookie of a browser that a key signed in, or `jwt`: a token of an outside issuer."""
    key_id: str
    expires_at: datetime | None


class SignsIn(ResponseModel):
    """The person whom a credential would sign in, and the other one whom this browser's cookie names, if any."""

    tenant: str = Field(examples=["local"])
    principal: str = Field(examples=["owner"])
    instead_of: str | None


class SignInCode(ResponseModel):
    """A one-time sign-in code: the bearer token of POST /v1/signin. `url` opens the web UI with it."""

    code: str = Field(examples=["suma_code_…"])
    url: str = Field(examples=["http://127.0.0.1:8010/?code=suma_code_…"])
    expires_at: datetime


PrincipalId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@|+-]{0,127}$")]


class NewKey(RequestModel):
    """A new API key, with roles, additional scopes, or both. Its principal is created if it is new."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"roles": {"maxItems": 0}}},
            "then": {"properties": {"scopes": {"minItems": 1}}, "required": ["scopes"]},
        }
    )

    principal: PrincipalId = Field(examples=["ada"])
    name: Name = Field(default="", examples=["ada's laptop"])
    roles: Annotated[tuple[Role, ...], AfterValidator(_sorted), Field(max_length=4)] = ()
    scopes: Annotated[tuple[Scope, ...], AfterValidator(_sorted), Field(max_length=50)] = ()
    expires_at: AwareDatetime | None = Field(default=None, description="Null: it does not expire")
    signing_key: dict[str, Any] | None = Field(
        default=None,
        description="A public JWK: each request with this key must then be signed by it (docs/identity.md)",
        examples=[{"kty": "OKP", "crv": "Ed25519", "x": "…"}],
    )
    tenant: Id | None = Field(default=None, description="Another tenant, for administrators of the platform")

    @model_validator(mode="after")
    def _something(self) -> NewKey:
        if not self.roles and not self.scopes:
            raise ValueError("give at least one role or scope")
        return self


class Rotation(RequestModel):
    overlap_seconds: int = Field(
        default=86_400, ge=0, le=OVERLAP_MOST, description="Seconds for which the old key stays valid"
    )


class KeyShown(ResponseModel):
    """An API key, without its secret. `scopes` are additional to those of its roles."""

    key_id: str
    tenant: str
    principal: str
    name: str
    roles: list[str]
    scopes: list[str]
    state: Literal["valid", "expired", "revoked"]
    origin: Literal["admin", "file"]
    """`file`: the key file of the machine's owner."""
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None
    """The last use, to the minute."""
    signs: bool
    """Whether each request with it must be signed."""
    browsers: int
    """Browsers that are signed in with it."""


class KeyCreated(KeyShown):
    key: str = Field(examples=["suma_…"])
    """The key itself: it is shown only here."""


class KeyList(ResponseModel):
    keys: list[KeyShown]
    next: str | None
    """`before=` of the next page; null at the end."""
    as_of: datetime


class NewTenant(RequestModel):
    tenant: TenantId = Field(examples=["acme"])
    name: Name = Field(default="", examples=["ACME Ltd"])


class TenantShown(ResponseModel):
    tenant: str
    name: str
    created_at: datetime
    disabled_at: datetime | None


class TenantList(ResponseModel):
    tenants: list[TenantShown]
    next: str | None
    """`after=` of the next page; null at the end."""
    as_of: datetime


class PrincipalShown(ResponseModel):
    tenant: str
    principal: str
    created_at: datetime
    disabled_at: datetime | None
    keys: int
    """Its valid keys."""


class PrincipalList(ResponseModel):
    principals: list[PrincipalShown]
    next: str | None
    """`after=` of the next page; null at the end."""
    as_of: datetime


class Disabled(ResponseModel):
    """A tenant or principal, and whether its credentials are refused now."""

    id: str
    disabled: bool
