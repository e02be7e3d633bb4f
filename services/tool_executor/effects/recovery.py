"""The next action on an effect, by its tool's class and whether it is in doubt (architecture.md 11)."""

from __future__ import annotations

from enum import StrEnum

from libs.tools import Effect


class RecoveryAction(StrEnum):
    """The next action on an effect."""

    RUN = "run"
    PROBE = "probe"
    """Ask whether it happened; run if it did not."""
    UNDO = "undo"
    """Take it back, then run."""
    ASK = "ask"
    """A person must find out."""


IN_DOUBT = {
    Effect.PURE: RecoveryAction.RUN,
    Effect.IDEMPOTENT: RecoveryAction.RUN,
    Effect.RECONCILABLE: RecoveryAction.PROBE,
    Effect.COMPENSABLE: RecoveryAction.UNDO,
    Effect.AT_MOST_ONCE: RecoveryAction.ASK,
}


def recovery_action(effect: Effect, *, in_doubt: bool) -> RecoveryAction:
    return IN_DOUBT[effect] if in_doubt else RecoveryAction.RUN


def can_be_settled(effect: Effect) -> bool:
    """Return whether doubt can be ended without making the effect, so that a cancel need not wait for it."""
    return effect in (Effect.RECONCILABLE, Effect.COMPENSABLE)


def waits(effect: Effect) -> bool:
    """Return whether a cancel waits for the effect, because it could not be probed afterwards."""
    return effect in (Effect.IDEMPOTENT, Effect.AT_MOST_ONCE)


def forgives(effect: Effect, *, in_doubt: bool) -> bool:
    """Return whether "this attempt did nothing" ends a doubt. It does not if an earlier attempt was left open."""
    # Running again answers for the new attempt alone; only a probe or an undo also answers for the earlier one.
    return effect is not Effect.PURE and not (in_doubt and IN_DOUBT[effect] is RecoveryAction.RUN)
