"""The model port: draft a plan, review one, revise one, and write the answer.

The committee worker asks the first three, the conversation worker the last. All that a model may know arrives as
arguments (S0-10). It never runs a tool, and its output is not trusted: the caller checks plans and parses reviews.
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
"""The usage of the offline models."""


class AnswerKind(StrEnum):
    """The kind of an answer that needs no plan."""

    ANSWER = "answer"
    """The text is the answer: the work is done, or the words themselves were asked for."""
    GREETING = "greeting"
    CAPABILITY = "capability"
    DECLINED = "declined"
    """No tool can do it, and the text says so."""
    DANGEROUS = "dangerous"
    UNDO = "undo"
    """A request to undo the last change. No plan does that; the client offers the rollback."""


@dataclass(frozen=True, slots=True)
class PlanDraft:
    """A plan with at least one step. Its `reasoning` is for people."""

    plan: Plan
    usage: Usage = FREE
    wish: str = ""
    """The request as replies have changed it; empty if none did."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Text without a plan: no tool is needed, or none can help."""

    text: str
    kind: AnswerKind = AnswerKind.ANSWER
    usage: Usage = FREE
    wish: str = ""


@dataclass(frozen=True, slots=True)
class ClarificationNeeded:
    """A question to the user: which of several skills (S4-46), or for missing parameters (S4-32)."""

    question: str
    candidates: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()
    usage: Usage = FREE
    offers: tuple[str, ...] = ()
    """Replies to choose from, in words."""


PlannerOutcome = PlanDraft | Answered | ClarificationNeeded


@dataclass(frozen=True, slots=True)
class ModelText:
    """Text of a model, whole or a delta of it, with what it cost. The reader sums a stream's costs."""

    text: str
    usage: Usage = FREE


class InvalidModelOutput(Rejected):
    """The model returned no usable output."""

    code = "MODEL_OUTPUT_INVALID"

    def __init__(self, message: str = "", *, usage: Usage = FREE) -> None:
        super().__init__(message)
        self.usage = usage
        """The usage of the attempts."""


class Model(Protocol):
    """Four verbs. Each may be called again with the same arguments and has no effect of its own.

    Raises `Unavailable` if the model cannot be reached, and `Rejected` (`InvalidModelOutput`) if its output stays
    unusable. Never returns half an outcome.
    """

    @property
    def name(self) -> str:
        """As `provider:name`; `offline` for ours."""
        ...

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        """Draft a plan that uses only tools of the catalogue. `task.observations` are of this turn's finished steps."""
        ...

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        """Review whether the plan fits the request (S0-16). Raw text, meant to be JSON `{"approved", "reason",
        "step"}`.
        """
        ...

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> PlanDraft:
        """Return the plan revised for the critic's reason (S0-18). It may come back unchanged; the critic sees it
        again.
        """
        ...

    def answer(self, task: Task) -> AsyncIterator[ModelText]:
        """Stream the answer to the user as deltas. Numbers come from the observations."""
        ...
