"""What a model must be able to do: draft a plan, criticise one, mend one, and write the answer.

The committee worker asks the first three, the conversation worker the last. All that a model may know arrives as
arguments (S0-10); it never runs a tool, and nothing that it says is trusted: plans are checked and a review
is parsed by whoever asked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from libs.errors import Rejected
from libs.events.committee import Task
from libs.events.values import Candidate, Plan, Usage
from libs.skills import ToolDefinition

FREE = Usage()
"""What our own models cost."""


class Why(StrEnum):
    """Why a request needs no plan."""

    ANSWER = "answer"
    """The text is the answer: the work is done, or the words themselves were asked for."""
    GREETING = "greeting"
    CAPABILITY = "capability"
    DECLINED = "declined"
    """It is beyond what the tools can do, and the text says so."""
    DANGEROUS = "dangerous"
    UNDO = "undo"
    """The last change shall be undone, which no plan does: the person's client offers the rollback."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """A plan with at least one step. Its `reasoning` is for people."""

    plan: Plan
    usage: Usage = FREE
    wish: str = ""
    """What replies have made of the request, where they did."""


@dataclass(frozen=True, slots=True)
class Answered:
    """No tool is needed, or none can help."""

    text: str
    why: Why = Why.ANSWER
    usage: Usage = FREE
    wish: str = ""


@dataclass(frozen=True, slots=True)
class Unclear:
    """The person is asked: which of several skills (S4-46), or for what is missing (S4-32)."""

    question: str
    candidates: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()
    usage: Usage = FREE


PlannerOutcome = Drafted | Answered | Unclear


@dataclass(frozen=True, slots=True)
class Said:
    """Text of a model, whole or a delta of it, with what it cost. A stream's costs are summed by whoever reads it."""

    text: str
    usage: Usage = FREE


class Nonsense(Rejected):
    """The model cannot be made to speak sense."""

    code = "MODEL_NONSENSE"

    def __init__(self, message: str = "", *, usage: Usage = FREE) -> None:
        super().__init__(message)
        self.usage = usage
        """What the attempts cost."""


class Model(Protocol):
    """Four verbs. Each may be called again with the same arguments and has no effect of its own.

    Raises `Unavailable` when the model cannot be reached and `Rejected` (`Nonsense`) when it cannot be made to speak
    sense; never answers with half an outcome.
    """

    @property
    def name(self) -> str:
        """As `provider:name`; `offline` for ours."""
        ...

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        """Draft a plan that uses only tools of the catalogue. `task.observations` are of this turn's finished steps."""
        ...

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> Said:
        """Review whether the plan fits the request (S0-16). Raw text, meant to be JSON `{"approved", "reason",
        "step"}`.
        """
        ...

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> Drafted:
        """Return the plan revised for the critic's reason (S0-18). It may come back unchanged; the critic sees it
        again.
        """
        ...

    def answer(self, task: Task) -> AsyncIterator[Said]:
        """Stream the answer to the user as deltas. Numbers come from the observations."""
        ...
