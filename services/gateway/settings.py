"""The gateway's settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from libs.guards.hosts import safe
from libs.identity import Role

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
"""Asymmetric algorithms only; never `none`, never a shared secret."""


class Oidc(BaseModel):
    """An outside issuer of access tokens (JWT), such as a company's sign-in. Without `issuer` none is accepted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: str | None = None
    """The exact `iss` of its tokens; its discovery document is below it."""
    audience: tuple[str, ...] = ()
    """Accepted values of `aud`."""
    jwks_url: str | None = None
    """The address of its keys; by default its discovery document names it."""
    algorithms: tuple[Algorithm, ...] = Field(default=("RS256", "PS256", "ES256", "EdDSA"), min_length=1)
    """Accepted algorithms of signatures."""
    skew_seconds: int = Field(default=60, ge=0, le=300)
    """Tolerated difference of clocks."""
    tenant: str | None = None
    """The tenant of all its principals; by default the claim says it."""
    tenant_claim: str = "tenant"
    """The claim that names the tenant."""
    principal_claim: str = "sub"
    """The claim that names the principal."""
    roles_claim: str = "roles"
    """The claim that names the roles."""
    roles: dict[str, Role] = Field(default_factory=dict)
    """Our role for each of its names; empty: the names are ours."""

    @model_validator(mode="after")
    def _complete(self) -> Oidc:
        if self.issuer is not None and not self.audience:
            raise ValueError("issuer needs audience: a token for another service must not work here")
        for url in (self.issuer, self.jwks_url):
            if url is not None and not safe(url):
                raise ValueError(f"{url} must be https (http only on this machine)")
        return self


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    """Accepted Host names, without a port; any other Host gets 421 (DNS rebinding)."""
    origins: tuple[str, ...] = ()
    """Foreign origins that may send requests, such as `https://ui.example`."""
    local_key: SecretStr | None = None
    """The machine owner's key, registered at start."""
    oidc: Oidc = Oidc()
    public_url: str | None = Field(default=None, pattern=r"^https?://[^/?#@]+$")
    """The address that people and clients use, such as `https://suma.example`, if there is a proxy in front."""
    signin_seconds: float = Field(default=60.0, gt=0, le=600)
    """Lifetime of a one-time sign-in code."""
    link_seconds: int = Field(default=3600, ge=1, le=86_400)
    """Longest lifetime of a link to an asset."""
    signatures_required: bool = False
    """Whether API keys may write only with signed requests; the key file of the machine's owner may without."""
    signature_seconds: float = Field(default=60.0, gt=0, le=300)
    """Greatest difference between a signature's time and ours."""
    grafana_url: str = Field(default="", pattern=r"^(https?://[^\s@]+)?$")
    """The address of Grafana for people, such as `https://grafana.example`; the page Operations links to it."""
    key_seconds: float = Field(default=1.0, ge=0, le=60)
    """Seconds for which an API key, and policy's permission to read, are remembered: how long a revocation on another
    replica, or a changed rule of an OPA server, may take to count."""
    web_hours: float = Field(default=168.0, gt=0)
    """Hours until a signed-in browser must sign in again."""
    web: Path | None = None
    """The folder of the built web application."""
    body_most: int = Field(default=1_000_000, ge=1_000)
    """Maximum bytes of a JSON body."""
    body_most_inline: int = Field(default=10_000_000, ge=1_000)
    """The same where the body may hold files as data URLs: for OpenAI's API and AG-UI."""
    command_wait: float = Field(default=2.0, ge=0)
    """Seconds to wait for a command's outcome before a 202."""
    wait_most: float = Field(default=60.0, gt=0)
    """The longest `?wait=`, in seconds."""
    a2a_wait_seconds: float = Field(default=600.0, gt=0)
    """The longest wait of an A2A request that blocks until its task ends or asks, in seconds."""
    push_hosts: tuple[str, ...] = ()
    """Hosts of webhooks that may be on this network, and may be called over http: `host` with the usual port of its
    scheme, `host:port`, or `host:*`. All others are public and https.
    """
    push_seconds: float = Field(default=15.0, gt=0, le=60)
    """Seconds for a webhook to answer."""
    push_attempts: int = Field(default=12, ge=1, le=30)
    """Failed attempts in a row after which a webhook is no longer called."""
    push_at_once: int = Field(default=256, ge=2)
    """Webhooks that this process serves at once; a quarter of them for one tenant."""
    reread_seconds: float = Field(default=15.0, gt=0)
    """Seconds after which an open stream reads again without a wake-up, since wake-ups may be lost."""
    heartbeat_seconds: float = Field(default=15.0, gt=0)
    """Seconds between two heartbeats of a stream without events."""
    verify_seconds: float = Field(default=1.0, gt=0)
    """Seconds between two verifications of the credentials behind open streams."""
    send_seconds: float = Field(default=30.0, gt=0)
    """Seconds after which a client that receives nothing is disconnected."""
    streams_most: int = Field(default=10_000, ge=1)
    """Open streams of this process."""
    page: int = Field(default=200, ge=1, le=1_000)
    """Events that a stream reads and buffers at once."""
    streams_most_each: int = Field(default=5_000, ge=1)
    """Open streams of one tenant in this process."""
    requests_per_minute: int = Field(default=24_000, ge=1)
    """Requests a minute of one tenant over all replicas; without Redis, per replica."""
    requests_per_minute_each: int = Field(default=12_000, ge=1)
    """Requests a minute of one principal."""
    requests_per_minute_route: int = Field(default=6_000, ge=1)
    """Requests a minute of one key on one route."""
    requests_per_minute_by_route: Mapping[str, Annotated[int, Field(ge=1)]] = {
        "POST /v1/signin": 60,
        "POST /v1/signin/code": 60,
    }
    """The same for single routes, by method and path as in the API's document."""
    turns_open_most: int = Field(default=10_000, ge=1)
    """Open turns of one tenant, queued or running."""
    turns_open_each_session: int = Field(default=100, ge=1)
    """Open turns of one session."""
    backlog_most: int = Field(default=50_000, ge=1)
    """Backlog of all workers above which no message is accepted."""
    requests_most: int = Field(default=512, ge=1)
    """Concurrent requests of this process, without streams."""
    requests_most_each: int = Field(default=256, ge=1)
    """Concurrent requests of one tenant in this process."""
    bodies_most: int = Field(default=64_000_000, ge=1_000_000)
    """Bytes of request bodies in this process's memory."""
    upload_bytes_most: int = Field(default=1 << 30, ge=1)
    """Maximum bytes of one uploaded file; `SUMA_BLOB_BYTES_MOST` also applies."""
    uploads_most: int = Field(default=1_000, ge=1)
    """Files of one tenant that are being uploaded, or that no message has named yet."""
    uploads_bytes_most: int = Field(default=50 << 30, ge=1)
    """Bytes of all uploaded files of one tenant."""
    upload_hours: float = Field(default=24.0, gt=0)
    """Hours after which an upload without progress, or that no message has named, is deleted."""
    upload_part_bytes: int = Field(default=8 << 20, ge=1)
    """Bytes after which received content is stored, so that it survives an interruption."""
    upload_idle_seconds: float = Field(default=30.0, gt=0)
    """Seconds after which a client that sends nothing is disconnected."""
    uploads_at_once: int = Field(default=32, ge=2)
    """Requests that send a file to this process; half of them for one tenant."""
    late_most: float = Field(default=1.5, gt=0)
    """Seconds of repeated event-loop lag above which requests that write are refused."""
    drain_notice: float = Field(default=0.0, ge=0)
    """Seconds during which a stopping process still answers while `/readyz` reports that it drains, for load balancers
    that poll.
    """
    drain_seconds: float = Field(default=10.0, ge=0)
    """Seconds to wait afterwards for running requests."""
