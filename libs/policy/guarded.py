"""Policy behind a door: a server that does not answer is not asked again and again (`libs.outbound`).

An open circuit is silence like any other: nothing runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from libs.outbound import CallTimedOut, CircuitOpen, Door
from libs.policy.ports import Decision, Json, Policy, PolicyUnanswered


class GuardedPolicy:
    """`behind` is the engine itself: readiness asks it, open circuit or not."""

    def __init__(self, behind: Policy, door: Door) -> None:
        self.behind, self._door = behind, door

    @property
    def revision(self) -> str:
        return self.behind.revision

    @property
    def problem(self) -> str | None:
        return self.behind.problem

    async def decide(self, action: str, input: Mapping[str, Json]) -> Decision:
        try:
            return await self._door.call(lambda: self.behind.decide(action, input))
        except (CircuitOpen, CallTimedOut) as silent:
            raise PolicyUnanswered(str(silent)) from silent

    async def reload(self) -> bool:
        return await self.behind.reload()
