"""Permission of one action: policy is asked, and its answer is recorded (P4)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import Denied
from libs.events import ActionRecorded
from libs.policy import Decision, scopes
from libs.runtime.platform import Platform


class PolicyDenied(Denied):
    """Policy does not allow this; ask your administrator."""

    code = "POLICY_DENIED"
    recorded = True

    def __init__(self, message: str = "", *, scopes: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.scopes = tuple(scopes)
        """Scopes with which it would be allowed; none if the denial has another reason."""


async def permitted(
    platform: Platform, cause: Cause, action: str, who: str, held: Collection[str], *, resource: str = "", **facts: Any
) -> ActionRecorded:
    """Ask policy about an action of principal `who`, who holds these scopes.

    Returns the record of permission for the changeset that it permits; a denial is recorded at once.

    Raises:
        PolicyDenied: policy denied the action.
        Unavailable: policy does not answer, so nothing is done.
    """
    principal = {"id": who, "scopes": sorted(held)}
    about = {"tenant": cause.tenant, "principal": principal, "session": cause.session, "turn": cause.turn, **facts}
    decision = await platform.policy.decide(action, about)
    record = recorded(decision, cause, who, resource)
    if not decision.allowed:
        # Under an id of its own: under the cause's, the inbox would take the record for the answer to the input.
        await platform.writer.apply(Changeset(replace(cause, id=ids.new())).emit(record))
        lacking = await scopes.missing(platform.policy, action, about)
        missing = f"; {scopes.MISSING}{', '.join(lacking)}" if lacking else ""
        raise PolicyDenied(f"{action}: {decision.reason or 'policy does not allow this'}{missing}", scopes=lacking)
    return record


def recorded(decision: Decision, cause: Cause, who: str, resource: str = "") -> ActionRecorded:
    """Return the audit record of a decision."""
    return ActionRecorded(
        action=decision.action,
        phase="decision",
        verdict="allow" if decision.allowed else "deny",
        principal=who,
        resource=(resource or (f"session:{cause.session}" if cause.session else ""))[:200],
        rule=decision.rule,
        revision=decision.revision,
        turn_id=cause.turn,
    )
