"""The policy port behind a guard: a server that does not answer is not called again at once (`libs.resilience`).

An open circuit counts as no answer: nothing runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from libs.policy.ports import Decision, Json, Policy, PolicyUnanswered, counting_silence
from libs.resilience import CallTimedOut, CircuitOpen, GuardedCall


class GuardedPolicy:
    """A guarded policy. `behind` is the engine itself: readiness checks it even while the circuit is open."""

    def __init__(self, behind: Policy, guard: GuardedCall) -> None:
        self.behind, self._guard = behind, guard

    @property
    def revision(self) -> str:
        return self.behind.revision

    @property
    def problem(self) -> str | None:
        return self.behind.problem

    async def decide(self, action: str, input: Mapping[str, Json]) -> Decision:
        # Counted here, not in the engine: neither a retry nor an open circuit is an answer.
        with counting_silence(action):
            try:
                return await self._guard.call(lambda: self.behind.decide(action, input))
            except (CircuitOpen, CallTimedOut) as silent:
                raise PolicyUnanswered(str(silent)) from silent

    async def reload(self) -> bool:
        return await self.behind.reload()
