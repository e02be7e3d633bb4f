"""The declaration of a service. The host runs it, in a process of its own or with others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from libs.bus.ports import Record
from libs.bus.projections import Subject
from libs.changes.changeset import Cause, Changeset
from libs.database import Schema
from libs.errors import SumaError
from libs.events.base import Event
from libs.events.envelope import Envelope
from libs.events.topics import Topic
from libs.leases.ports import Lease
from libs.runtime.health import Health

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from libs.clients.calls import Query

R = TypeVar("R")
Problems = Callable[[], Sequence[str]]
Handle = Callable[[Cause, Envelope[Any]], Awaitable[Changeset]]
OnDead = Callable[[Cause, Record, SumaError], Changeset]


def unreported(cause: Cause, record: Record, error: SumaError) -> Changeset:
    """Report nothing: no caller waits for these events, and the dead letter is enough."""
    return Changeset(cause)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription to one event type. `handle` loads, decides and returns a changeset; it may be called again.

    `on_dead` returns the failure report to the waiting caller, and loads nothing (bus.md 16). An `urgent` event
    overtakes parked ones. With `fuses` the event may be handled in the commit of its cause: the handler reads its own
    service's rows, and another's only if `Cause.uncommitted` does not name it.
    """

    event: type[Event]
    handle: Handle
    on_dead: OnDead = unreported
    urgent: bool = False
    fuses: bool = False


@dataclass(frozen=True, slots=True)
class Projection:
    """A topic that SQL of the service's schema projects (bus.md 20). `watch` is called in each process with what was
    projected, perhaps repeatedly.
    """

    topic: Topic
    watch: Callable[[Sequence[Subject]], None] | None = None


@dataclass(frozen=True, slots=True)
class Kind(Generic[R]):
    """A kind of lease: its long work, and the changesets that end it.

    `run` works outside any transaction and may run again after a crash. `finish` and `fail` load and decide, and are
    called again after a Conflict. `fail` handles Rejected, a cancel (`Cancelled`) and exhausted attempts.
    """

    name: str
    run: Callable[[Lease], Awaitable[R]]
    finish: Callable[[Lease, R], Awaitable[Changeset]]
    fail: Callable[[Lease, SumaError], Awaitable[Changeset]]
    room: int = 64
    per_tenant: int = 64
    attempts: int = 5


@dataclass(frozen=True, slots=True)
class Api:
    """An HTTP app; the catalogue of services names its port."""

    app: ASGIApp
    send_seconds: float = 30.0
    """How long a client may leave an answer unread."""


@dataclass(frozen=True, slots=True)
class Service:
    """One of the six services. `name` is its consumer group, the owner of its schema, and its source in events."""

    name: str
    subscriptions: Sequence[Subscription] = ()
    kinds: Sequence[Kind[Any]] = ()
    projections: Sequence[Projection] = ()
    batch: bool = False
    """Its handlers load nothing and no caller waits for them, so many records of a partition may be applied as one
    changeset (all or none), without spans.
    """
    batch_delay: float = 0.0
    """Seconds that a batching service waits for more records."""
    schema: Schema | None = None
    api: Api | None = None
    queries: Mapping[str, Query] = field(default_factory=dict)
    """Queries of its API that services in the same process call directly, by name."""
    tasks: Sequence[Callable[[], Awaitable[None]]] = ()
    """Background tasks that run until the service stops, such as writing checkpoints."""
    problems: Problems = field(default=list)
    """Return why the service is not ready, for `/readyz`."""
    started: Callable[[Problems, Health], None] = lambda problems, health: None
    """Called once the process runs, with why it is not ready, and what it knows of its dependencies."""
