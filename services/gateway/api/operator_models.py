"""The shapes of what operators ask and see: dead letters, what waits for policy, and the bus."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints

from libs.events.base import registry
from services.gateway.api.models import Asked, Id, Shown
from services.gateway.domain.projection import short
from services.gateway.letters import Search

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Why = Annotated[str, StringConstraints(min_length=1, max_length=2_000, pattern=r"\S")]
Remark = Annotated[str, StringConstraints(max_length=2_000)]
State = Literal["open", "replayed", "discarded"]


def _utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_utc)]


class Which(Asked):
    """Which dead letters are meant: all of what is named."""

    group: Name | None = Field(default=None, description="The consumer group that could not handle it")
    topic: Name | None = None
    type: Name | None = Field(default=None, description="Of the event, such as `tool.requested`")
    code: Name | None = Field(default=None, description="Of the error, such as `MALFORMED_EVENT`")
    session: Id | None = None
    since: Moment | None = Field(default=None, description="Died then or later; UTC where no zone is named")
    until: Moment | None = Field(default=None, description="Died before then")
    before: Id | None = Field(
        default=None, description="Behind this letter, in the order of the list: `next` of a page"
    )

    def search(self, state: str) -> Search:
        return Search(
            state=state if state != "any" else None,
            grp=self.group,
            topic=self.topic,
            types=_types(self.type) if self.type else None,
            code=self.code,
            session=self.session,
            since=self.since,
            until=self.until,
            before=self.before,
        )


class Look(Which):
    """The same, with how many at most, and in which state."""

    state: Literal["open", "replayed", "discarded", "any"] = "open"
    limit: int = Field(default=50, ge=1, le=500)


class Many(Which):
    """Open dead letters to be dealt with at once, newest first."""

    limit: int = Field(default=100, ge=1, le=100)


class ReplayMany(Many):
    reason: Remark = ""


class DiscardMany(Many):
    reason: Why


class Discard(Asked):
    reason: Why


class Replay(Asked):
    reason: Remark = ""


class LetterShown(Shown):
    """An event that a group could not handle. `stale`: its turn is over, so that a replay would do nothing."""

    letter_id: str
    group: str = Field(validation_alias="grp")
    topic: str
    event_type: str
    event_id: str
    event_key: str
    session_id: str | None
    turn_id: str | None
    turn_state: str | None
    turn_reason: str | None
    code: str
    error: str
    attempts: int
    died_at: datetime
    stale: bool
    state: State
    closed_by: str | None
    closed_at: datetime | None
    reason: str


class LetterRead(LetterShown):
    """With the event as it came: `{"headers": …, "data": …}`. Where it cannot be had, `problem` says why."""

    principal: str | None = None
    """Who speaks in its session."""
    size: int = 0
    original: Any = None
    problem: str | None = None


class LetterList(Shown):
    letters: list[LetterShown]
    next: str | None
    """`before=` of the next page; null at the end."""
    as_of: datetime


class LetterClosed(Shown):
    """What came of it: done now, `already` done before, or `stale`: its turn is over, and nothing was run."""

    letter_id: str
    outcome: Literal["replayed", "discarded", "stale", "already"]
    state: State
    closed_by: str | None
    closed_at: datetime | None


class ManyClosed(Shown):
    """How many were dealt with. Stale ones stay open."""

    replayed: int = 0
    discarded: int = 0
    stale: int = 0
    next: str | None
    """`before` of the rest; null when there is none."""


class Requeued(Shown):
    """An event that waits because policy did not answer. It is tried again by itself at `next_try`."""

    id: str
    group: str
    topic: str
    event_type: str
    session_id: str | None
    turn_id: str | None
    error: str
    attempts: int
    since: datetime
    next_try: datetime


class RequeueList(Shown):
    waiting: list[Requeued]
    as_of: datetime


class Retried(Shown):
    """It is due now."""

    id: str
    groups: list[str]


class GroupState(Shown):
    """How far a group is behind in a topic, over all tenants; and of the caller's tenant what is parked and dead."""

    group: str
    topic: str
    lag: int | None
    parked: int = 0
    dead: int = 0
    parked_since: datetime | None = None


class TopicState(Shown):
    """What the log keeps of a topic, over all tenants."""

    topic: str
    records: int
    oldest_seconds: float | None
    retention_seconds: float


class BusState(Shown):
    groups: list[GroupState]
    topics: list[TopicState]
    as_of: datetime


def _types(name: str) -> list[str]:
    """The event types of this name, written whole or short."""
    return [known for known in registry if name in (known, short(known))] or [name]
