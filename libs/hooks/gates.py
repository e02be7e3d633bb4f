"""Gates: hooks that are asked before an action. The first refusal decides, and silence is a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from libs.errors import Rejected, Unavailable
from libs.events import ActionRecorded
from libs.hooks.loading import Hook
from libs.hooks.ports import Action
from libs.hooks.threads import HookThread
from libs.telemetry import logger

HOOK_REFUSED = "HOOK_REFUSED"
"""The reason with which a turn ends that a gate refused."""
REASON_MOST = 500
log = logger("hooks")


class HookUnavailable(Unavailable):
    """A gate cannot decide now; the action is tried again."""

    code = "HOOK_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of one gate. `refusal` is its reason for a no; None is a yes."""

    hook: Hook
    action: Action
    refusal: str | None = None

    @property
    def record(self) -> ActionRecorded:
        """The audit record, as of a decision of policy."""
        return ActionRecorded(
            action="hook",
            phase="decision",
            verdict="allow" if self.refusal is None else "deny",
            principal=self.action.principal,
            resource=self.hook.name,
            rule=self.action.point,
            revision=self.hook.digest,
            turn_id=self.action.turn,
            step_id=self.action.step or None,
        )


class Gates:
    def __init__(self, hooks: Sequence[Hook] = (), *, seconds: float = 5.0) -> None:
        self._threads = [HookThread(hook, seconds) for hook in hooks]
        self._seconds = seconds

    async def ask(self, action: Action) -> tuple[Verdict, ...]:
        """Ask the gates of this point in order, up to the first refusal.

        Raises:
            HookUnavailable: a gate asks for another try.
        """
        verdicts: list[Verdict] = []
        for thread in self._threads:
            if thread.hook.point is action.point and (not verdicts or verdicts[-1].refusal is None):
                verdicts.append(Verdict(thread.hook, action, await self._refusal(thread, action)))
        return tuple(verdicts)

    async def _refusal(self, thread: HookThread, action: Action) -> str | None:
        name, answer = thread.hook.name, await thread.call(action)
        # Code from outside may end in any way; only None is a yes.
        match answer.error:
            case None:
                said = answer.value
            case TimeoutError():
                said = f"did not answer within {self._seconds:g} s"
            case Rejected() as error:
                said = str(error)
            case Unavailable() as error:
                raise HookUnavailable(f"{name}: {error}") from error
            case error:
                log.error("failed hook", hook=name, point=action.point, exc_info=error)
                said = f"failed ({type(error).__name__})"
        if said is None:
            return None
        if not isinstance(said, str):
            said = f"returned {type(said).__name__} instead of a reason"
        return f"{name}: {' '.join(said.split())[:REASON_MOST] or 'no reason'}"
