"""The limits of a turn (DESIGN §7, S2-04 … S2-06), each with the name of its stop reason.

Budgets limit tokens and cost, before each call of a model (`libs.budgets`).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from services.conversation_worker.turn.state import Turn


class Limits(BaseModel):
    """The limits' defaults; each is a setting."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rounds: int = Field(default=10, ge=1)
    """Thoughts of the model in one turn."""
    errors: int = Field(default=3, ge=1)
    """Consecutive errors after which a turn ends."""
    calls: int = Field(default=20, ge=1)
    """Tool calls in one turn."""
    seconds: float = Field(default=1800.0, gt=0)
    """Seconds of work in one turn; waiting for people does not count."""


def before_call(turn: Turn, limits: Limits) -> str | None:
    """Return the named reason why no further tool may be called, or None."""
    return "MAX_TOOL_CALLS" if turn.calls >= limits.calls else before_thought(turn, limits)


def before_thought(turn: Turn, limits: Limits) -> str | None:
    """Return the named reason why the turn must stop, or None."""
    checks = (
        (turn.round > limits.rounds, "MAX_ROUNDS"),
        (turn.errors >= limits.errors, "CONSECUTIVE_ERRORS"),
        (turn.worked > limits.seconds, "MAX_WALL_TIME"),
    )
    return next((reason for over, reason in checks if over), None)
