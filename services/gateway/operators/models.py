"""Models of the operator routes: dead letters, events waiting for policy, the bus, the audit log, and health."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from libs.events import registry
from libs.runtime import Source
from services.gateway.http.models import MAX_POSITION, VISIBLE, Id, RequestModel, ResponseModel, short

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Why = Annotated[str, StringConstraints(min_length=1, max_length=2_000, pattern=VISIBLE)]
Remark = Annotated[str, StringConstraints(max_length=2_000)]
State = Literal["open", "replayed", "discarded"]
DATED = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")


def _utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _dated(at: Any) -> Any:
    """Accept only ISO 8601 dates with times; pydantic would accept seconds since 1970 as well."""
    if isinstance(at, (int, float)) or (isinstance(at, str) and not DATED.match(at)):
        raise ValueError("give a time such as 2026-01-31T12:00:00Z")
    return at


Moment = Annotated[datetime, BeforeValidator(_dated), AfterValidator(_utc)]


class Filter(RequestModel):
    """A filter of dead letters; all given conditions must match."""

    group: Name | None = Field(default=None, description="Consumer group that could not handle the event")
    topic: Name | None = None
    type: Name | None = Field(default=None, description="Event type, such as `tool.requested`")
    code: Name | None = Field(default=None, description="Error code, such as `MALFORMED_EVENT`")
    session: Id | None = None
    since: Moment | None = Field(default=None, description="Dead at this time or later; UTC if no zone is given")
    until: Moment | None = Field(default=None, description="Dead before this time")
    before: Id | None = Field(
        default=None, description="After this dead letter in list order: `next` of the previous page"
    )

    def conditions(self, state: str) -> Mapping[str, Any]:
        """Return the conditions of a search; None matches everything."""
        types = _types(self.type) if self.type else None
        given = self.model_dump(include={"topic", "code", "session", "since", "until", "before"})
        return {**given, "state": state if state != "any" else None, "grp": self.group, "types": types}


class ListFilter(Filter):
    """A filter of dead letters with their state and a maximum number."""

    state: Literal["open", "replayed", "discarded", "any"] = "open"
    limit: int = Field(default=50, ge=1, le=500)


class CloseMany(Filter):
    """Open dead letters to close at once, newest first."""

    limit: int = Field(default=100, ge=1, le=100)


class ReplayMany(CloseMany):
    reason: Remark = ""


class DiscardMany(CloseMany):
    reason: Why


class Discard(RequestModel):
    reason: Why


class Replay(RequestModel):
    reason: Remark = ""


class LetterShown(ResponseModel):
    """An event that a group could not handle. `stale`: its turn is over, so a replay would do nothing."""

    letter_id: str
    group: str
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
    """A dead letter with the original event: `{"headers": …, "data": …}`. If it is unavailable, `problem` says why."""

    principal: str | None = None
    """The principal of its session."""
    size: int = 0
    original: Any = None
    problem: str | None = None


class LetterList(ResponseModel):
    letters: list[LetterShown]
    codes: dict[str, int]
    """How many match, by code, on all pages."""
    next: str | None
    """`before=` of the next page; null at the end."""
    as_of: datetime


class LetterClosed(ResponseModel):
    """The outcome: replayed or discarded now, `already` closed before, or `stale`: its turn is over."""

    letter_id: str
    outcome: Literal["replayed", "discarded", "stale", "already"]
    state: State
    closed_by: str | None
    closed_at: datetime | None


class ManyClosed(ResponseModel):
    """The number of dead letters by outcome. Stale ones stay open."""

    replayed: int = 0
    discarded: int = 0
    stale: int = 0
    next: str | None
    """`before` of the remaining ones; null when there are none."""


class Requeued(ResponseModel):
    """An event that waits because policy did not answer. It is retried automatically at `next_try`."""

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


class RequeueList(ResponseModel):
    waiting: list[Requeued]
    as_of: datetime


class Retried(ResponseModel):
    """An event that is due for a retry now, and its groups."""

    id: str
    groups: list[str]


class GroupState(ResponseModel):
    """A group's lag in a topic, over all tenants, and the caller's tenant's parked and dead events."""

    group: str
    topic: str
    lag: int | None
    parked: int = 0
    dead: int = 0
    parked_since: datetime | None = None


class TopicState(ResponseModel):
    """The retained log of a topic, over all tenants."""

    topic: str
    records: int
    oldest_seconds: float | None
    retention_seconds: float


class LeaseState(ResponseModel):
    """The caller's tenant's leases of one kind: all of them, those that a process holds, and those that are due and
    wait for one. `since` is the oldest one's creation.
    """

    group: str
    kind: str
    leases: int
    held: int
    due: int
    since: datetime


class BusState(ResponseModel):
    groups: list[GroupState]
    leases: list[LeaseState]
    topics: list[TopicState]
    as_of: datetime


class MetricSample(ResponseModel):
    """The increase of counters since the sample before, and the gauges at that time; over all tenants."""

    at: datetime
    turns: int
    """Turns that ended."""
    tool_calls: int
    allowed: int
    """Policy decisions that allow."""
    denied: int
    unanswered: int
    """Policy questions without an answer."""
    dead_letters: int
    requests: int
    p95_seconds: float | None
    """95% of the requests were answered within this time; null without requests."""
    lag: int
    """Records that this process's consumer groups have not handled yet."""
    memory_bytes: int


class MetricHistory(ResponseModel):
    """The last hour of the gateway's process."""

    services: list[str]
    """The services in this process, which the samples cover."""
    every_seconds: float
    samples: list[MetricSample]
    """Oldest first; none until the first interval has ended."""
    grafana_url: str
    """Grafana's address for people; empty if none is set."""
    as_of: datetime


class SettingShown(ResponseModel):
    """A setting in force. A secret's value is always null; `set` tells whether it has one."""

    name: str = Field(examples=["gateway.web_hours"])
    service: str
    """The service that it belongs to; `platform` for those that every process shares."""
    variable: str
    value: str | None
    """Text as it is, anything else as JSON."""
    secret: bool
    set: bool
    origin: Source
    source: str
    """The variable's name, the file's path, or `default`."""
    description: str


class SettingList(ResponseModel):
    settings: list[SettingShown]
    as_of: datetime


class AuditFilter(RequestModel):
    """A filter of audit records; all given conditions must match."""

    action: Name | None = Field(default=None, description="Audited action, such as `tool.execute`")
    verdict: Name | None = Field(default=None, description="Verdict, such as `deny` or `succeeded`")
    principal: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    session: Id | None = None
    turn: Id | None = None
    since: Moment | None = Field(default=None, description="Recorded at this time or later; UTC if no zone is given")
    until: Moment | None = Field(default=None, description="Recorded before this time")
    looks: bool = Field(default=True, description="Whether to include records that only permit reading")
    before: int | None = Field(default=None, ge=1, le=MAX_POSITION, description="`next` of the previous page")
    limit: int = Field(default=50, ge=1, le=500)


class AuditRecord(ResponseModel):
    """An audited decision, intent or outcome at its position in the chain. `link` covers it and all earlier records."""

    position: int
    link: str
    event_id: str
    time: datetime
    source: str
    session_id: str | None
    turn_id: str | None
    action: str
    phase: str
    verdict: str
    principal: str
    resource: str
    rule: str
    revision: str
    step_id: str | None
    call_id: str | None
    digests: dict[str, str]
    """Salted digests of the content that the action used."""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> AuditRecord:
        """Return the record of an entry of the audit worker's search; `libs.audit.chain.record_of` defines it."""
        record = entry["record"]
        return cls(
            position=entry["position"],
            link=entry["link"],
            event_id=record["id"],
            time=record["time"],
            source=record["source"],
            session_id=record.get("session"),
            **{"turn_id": record.get("turn"), "step_id": None, "call_id": None, **record["data"]},
        )


class AuditPage(ResponseModel):
    records: list[AuditRecord]
    next: int | None
    """`before=` of the next page; null at the end."""
    behind: int
    """The number of records, over all tenants, that are recorded but not chained yet."""
    as_of: datetime


class AuditState(ResponseModel):
    """The tenant's chain: `count` records, of which a signed checkpoint covers the first `sealed`."""

    count: int
    sealed: int
    sealed_at: datetime | None
    head: str
    """The newest link, in hex; that of an empty chain is its genesis."""
    behind: int
    as_of: datetime


class Check(ResponseModel):
    """A dependency at its last check. `level` is its degradation: none, minor, moderate, severe, critical. `circuit` is
    its circuit breaker's state: closed, half_open, open.
    """

    ok: bool
    detail: str = ""
    level: str = "none"
    circuit: str = "closed"


class Liveness(ResponseModel):
    status: Literal["alive"]


class Readiness(ResponseModel):
    ready: bool
    pid: int
    """The id of the responding process."""
    version: str
    services: list[str]
    """The services that this process runs."""
    level: str
    """The level of the most degraded dependency."""
    checks: dict[str, Check]
    problems: list[str]


class ServiceHealth(ResponseModel):
    """A service. `down`: it does not answer. All services of one process have the state and the problems of that
    process.
    """

    service: str
    state: Literal["ready", "not_ready", "down"]
    pid: int | None = None
    version: str | None = None
    level: str = "none"
    problems: list[str] = Field(default=[])


class ServiceHealthList(ResponseModel):
    services: list[ServiceHealth]
    as_of: datetime


def _types(name: str) -> list[str]:
    """Return the event types with this full or short name."""
    return [known for known in registry if name in (known, short(known))] or [name]
