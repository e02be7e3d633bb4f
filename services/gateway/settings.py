"""The gateway's settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    port: int = Field(default=8010, ge=1, le=65535)
    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    """Names under which we may be addressed, without a port; any other Host is answered 421 (DNS rebinding)."""
    origins: tuple[str, ...] = ()
    """Origins, such as `https://ui.example`, that may send requests though they are not ours."""
    local_key: SecretStr | None = None
    """The owner's key of this machine, registered at start."""
    body_most: int = Field(default=1_000_000, ge=1_000)
    """Bytes of a JSON body."""
    command_wait: float = Field(default=2.0, ge=0)
    """Seconds that a command waits for its outcome before it is answered 202."""
    wait_most: float = Field(default=60.0, gt=0)
    """The longest `?wait=`, in seconds."""
    idempotency_hours: float = Field(default=24.0, gt=0)
    reread_seconds: float = Field(default=15.0, gt=0)
    """How often an open stream looks without having been woken: wake-ups are hints."""
    heartbeat_seconds: float = Field(default=15.0, gt=0)
    send_seconds: float = Field(default=30.0, gt=0)
    """A viewer that takes nothing for so long is dropped."""
    streams_most: int = Field(default=10_000, ge=1)
    """Open streams of this process."""
    page: int = Field(default=200, ge=1, le=1_000)
    """Events that a stream reads, and holds, at once."""
    streams_most_each: int = Field(default=5_000, ge=1)
    """Of these, one tenant's."""
    requests_per_minute: int = Field(default=24_000, ge=1)
    """Of one tenant, over all replicas; with Redis away, in each."""
    requests_per_minute_each: int = Field(default=12_000, ge=1)
    """Of one principal."""
    turns_open_most: int = Field(default=10_000, ge=1)
    """Of one tenant: turns that are not over, waiting ones and those at work."""
    turns_open_each_session: int = Field(default=100, ge=1)
    backlog_most: int = Field(default=50_000, ge=1)
    """What may wait for our workers in all before no tenant's message is let in."""
    requests_most: int = Field(default=512, ge=1)
    """Requests that this process answers at once, streams left out."""
    requests_most_each: int = Field(default=256, ge=1)
    """Of these, one tenant's."""
    bodies_most: int = Field(default=64_000_000, ge=1_000_000)
    """Bytes of bodies that this process holds at once."""
    late_most: float = Field(default=1.5, gt=0)
    """Seconds by which the event loop may be late, time and again, before nothing more is let in that changes
    something."""
    drain_notice: float = Field(default=0.0, ge=0)
    """Seconds for which a process that stops still answers, while `/readyz` says that it is leaving: for load balancers
    that ask now and then."""
    drain_seconds: float = Field(default=10.0, ge=0)
    """How long it then waits for requests in hand."""
    lag_most: int = Field(default=10_000, ge=1)
    """Records that the projection may be behind before we are not ready."""
