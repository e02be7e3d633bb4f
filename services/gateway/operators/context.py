"""The state of the operators' room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from libs.runtime import Health
from services.gateway.http.context import Room, state_of
from services.gateway.identity.context import Identity
from services.gateway.operators.dead_letters import DeadLetters
from services.gateway.operators.samples import Samples


@dataclass
class Process:
    """The state of the process, as its host sees it. Until `started` there are no problems, and readiness checks on
    demand.
    """

    health: Health
    problems: Callable[[], Sequence[str]] = field(default=list)

    def started(self, problems: Callable[[], Sequence[str]], health: Health) -> None:
        self.problems, self.health = problems, health


@dataclass(frozen=True)
class Operators(Room):
    identity: Identity
    dead_letters: DeadLetters
    samples: Samples
    process: Process


Here = Annotated[Operators, state_of("operators")]
