"""The limits of a turn (architecture.md 8, S2-04 … S2-06), each with the name of its stop reason.

Budgets limit tokens and cost, before each call of a model (`libs.budgets`).
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from services.conversation_worker.turn.state import Outcome, Turn, TurnState


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


CALLS = "MAX_TOOL_CALLS"
SAYS: Mapping[str, tuple[str, str]] = {
    CALLS: ("calls", "A turn makes at most {most} tool calls."),
    "MAX_ROUNDS": ("rounds", "A turn plans at most {most} times."),
    "CONSECUTIVE_ERRORS": ("errors", "{most} steps in a row failed."),
    "MAX_WALL_TIME": ("seconds", "A turn works for at most {most:g} s."),
}
"""The limit behind each reason, and its sentence."""


def before_call(turn: Turn, limits: Limits) -> Outcome | None:
    """Return the outcome of a turn that may call no further tool, or None."""
    return reached(CALLS, limits) if turn.calls >= limits.calls else before_thought(turn, limits)


def before_thought(turn: Turn, limits: Limits) -> Outcome | None:
    """Return the outcome of a turn that must stop, or None."""
    checks = (
        (turn.round > limits.rounds, "MAX_ROUNDS"),
        (turn.errors >= limits.errors, "CONSECUTIVE_ERRORS"),
        (turn.worked > limits.seconds, "MAX_WALL_TIME"),
    )
    return next((reached(reason, limits) for over, reason in checks if over), None)


def reached(reason: str, limits: Limits, why: str = "") -> Outcome:
    """Return the outcome of a turn at a limit: it names the limit, and the setting that raises it."""
    name, says = SAYS[reason]
    what = why.removesuffix(" Rejected.") or says.format(most=getattr(limits, name))
    mend = f"Ask for a smaller part, or raise SUMA_CONVERSATION_WORKER__LIMITS__{name.upper()}."
    return Outcome(state=TurnState.FAILED, reason=reason, detail=f"{what} {mend}")
