"""The conversation worker's settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from services.conversation_worker.domain.limits import Limits


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    limits: Limits = Limits()
    tools: tuple[str, ...] = ("*",)
    """The agent's tool allowlist."""
    approval_seconds: float = Field(default=24 * 3600.0, gt=0)
    """How long a person may take to decide."""
    clarification_seconds: float = Field(default=24 * 3600.0, gt=0)
    """How long a person may take to answer a question."""
    unknown_seconds: float = Field(default=3600.0, gt=0)
    """How long a turn waits for a person to find out whether an effect happened; the question itself stays open."""
    call_seconds: float = Field(default=300.0, gt=0)
    """Work that one tool call may take."""
    grant_seconds: float = Field(default=3600.0, gt=0)
    """How long a grant holds."""
    queue_most: int = Field(default=100, ge=1)
    """Messages that wait in one session's mailbox."""
    turns_at_once: int = Field(default=512, ge=1)
    """Turns that this process lets be at work; others wait before they begin."""
    turns_at_once_per_tenant: int = Field(default=128, ge=1)
    """One tenant's share of these."""
    models_at_once: int = Field(default=128, ge=1)
    """Contexts that this process gathers, and answers that it has written, side by side."""
    models_at_once_per_tenant: int = Field(default=64, ge=1)
    """One tenant's share of these: fewer than all, so that one tenant's slow model does not delay another."""
