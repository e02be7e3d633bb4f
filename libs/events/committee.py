"""committee.requests and committee.decisions: a plan is asked for, drafted, criticised, mended or refused."""

from __future__ import annotations

from pydantic import Field

from libs.events.base import Event, Value, event
from libs.events.topics import COMMITTEE_DECISIONS, COMMITTEE_REQUESTS
from libs.events.values import Candidate, Json, Observation, Plan, Review, Usage

DENIED = "DENIED"
"""Why an earlier turn has changed nothing: a person refused what it proposed."""
MORE_BELOW = "MORE_BELOW"
"""The same: all that it was about was found in subfolders, and it has asked whether they are meant."""


class Exchange(Value):
    """One earlier turn of the session, as working memory."""

    text: str
    answer: str
    wish: str | None = None
    """What the replies to questions have made of the text, where they did."""
    reason: str | None = None
    """That of its end, where there was one."""
    shown: tuple[str, ...] = ()
    """The files that it has named, in their order; none where it has changed them, or named too many to remember."""

    @property
    def about(self) -> str:
        """What it came to be about: what was dropped on the way does not return."""
        return self.wish or self.text


class Task(Value):
    """All that the committee may know (S0-10): the request, its intent, the session's memory, the workspace's facts."""

    text: str
    intent: str
    skill: str | None = None
    clarification: str | None = None
    """The person's answer to our last question, when this is one."""
    replies: tuple[str, ...] = ()
    """The answers to the questions before that, oldest first: each of this turn's questions leans on them."""
    history: tuple[Exchange, ...] = ()
    observations: tuple[Observation, ...] = ()
    memories: tuple[str, ...] = ()
    root: str | None = None
    workspace: dict[str, Json] = Field(default_factory=dict)
    """Counts, extensions and top-level names of the staged tree, the paths of all its files where there are few,
    and the folder's own approved skills (`skills`: name, description); data, never instructions.
    """
    read: dict[str, int] = Field(default_factory=dict)
    """Paths that this session has read, with the stage version at which it did (S0-14)."""
    tools: tuple[str, ...] = ()
    """The agent's tool allowlist; names, `ns.*` or `*`."""


@event("suma.plan.requested.v1", COMMITTEE_REQUESTS)
class PlanRequested(Event):
    """Draft a plan for a task and have it criticised."""

    request_id: str
    turn_id: str
    round: int
    task: Task


@event("suma.review.requested.v1", COMMITTEE_REQUESTS)
class ReviewRequested(Event):
    """A plan that someone else drafted is to be criticised."""

    request_id: str
    turn_id: str
    round: int
    task: Task
    plan: Plan


@event("suma.plan.cancel_requested.v1", COMMITTEE_REQUESTS)
class PlanCancelRequested(Event):
    """Nobody waits for this deliberation any more: the model call that it is at is closed."""

    request_id: str
    turn_id: str


@event("suma.plan.approved.v1", COMMITTEE_DECISIONS)
class PlanApproved(Event):
    """A plan that may be carried out. Without steps, `answer` says why none are needed."""

    request_id: str
    turn_id: str
    round: int
    plan: Plan
    reviews: tuple[Review, ...] = ()
    committee: bool = True
    """False where policy did not require the committee, so that only the static checks ran."""
    answer: str | None = None
    undo: bool = False
    """The person wants the last change undone, which is a rollback and no plan."""
    usage: Usage = Usage()
    wish: str | None = None
    """What replies have made of the request, where they did."""


@event("suma.plan.rejected.v1", COMMITTEE_DECISIONS)
class PlanRejected(Event):
    """Three rejections, or no plan can be made (S0-20). No tool runs."""

    request_id: str
    turn_id: str
    round: int
    code: str
    reason: str
    reviews: tuple[Review, ...] = ()
    usage: Usage = Usage()


@event("suma.plan.unclear.v1", COMMITTEE_DECISIONS)
class PlanUnclear(Event):
    """The request may mean several things, or lacks something: the person is asked (S4-46, S4-32)."""

    request_id: str
    turn_id: str
    round: int
    question: str
    candidates: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()
    usage: Usage = Usage()
