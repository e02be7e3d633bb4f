"""What a service is: declared, not run. The host runs it, in a process of its own or beside the others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from libs.bus.ports import Record
from libs.changes.changeset import Cause, Changeset
from libs.database import Schema
from libs.errors import SumaError
from libs.events.base import Event
from libs.events.envelope import Envelope
from libs.leases.ports import Held

if TYPE_CHECKING:
    from starlette.types import ASGIApp

R = TypeVar("R")
Handle = Callable[[Cause, Envelope[Any]], Awaitable[Changeset]]
OnDead = Callable[[Cause, Record, SumaError], Changeset]


def unreported(cause: Cause, record: Record, error: SumaError) -> Changeset:
    """For events that nobody waits for: the dead letter says it all."""
    return Changeset(cause)


@dataclass(frozen=True, slots=True)
class Subscription:
    """One event that a service listens to. `handle` loads, decides and returns what follows; it may be called again.

    `on_dead` is the report to whoever waits, without loading anything (bus.md 16). An `urgent` event passes parked
    ones. A `stubborn` one is never dead-lettered: its lane stops, and `/readyz` says so (the audit and dead-letter
    consumers).
    """

    event: type[Event]
    handle: Handle
    on_dead: OnDead = unreported
    urgent: bool = False
    stubborn: bool = False


@dataclass(frozen=True, slots=True)
class Kind(Generic[R]):
    """A kind of lease: the long work, and how its end becomes a changeset.

    `run` works outside any transaction and may run again after a crash; `finish` and `fail` load and decide, and are
    called again after a Conflict. `fail` answers a Rejected, a cancel (`Cancelled`) and exhausted attempts.
    """

    name: str
    run: Callable[[Held], Awaitable[R]]
    finish: Callable[[Held, R], Awaitable[Changeset]]
    fail: Callable[[Held, SumaError], Awaitable[Changeset]]
    room: int = 64
    per_tenant: int = 64
    attempts: int = 5


@dataclass(frozen=True, slots=True)
class Api:
    """An HTTP surface and the port that it has in production; in one process internal ones need no socket."""

    app: ASGIApp
    port: int
    internal: bool = True


@dataclass(frozen=True, slots=True)
class Service:
    """One of the six. `name` is its consumer group, its schema's owner and its source in events."""

    name: str
    subscriptions: Sequence[Subscription] = ()
    kinds: Sequence[Kind[Any]] = ()
    gathers: bool = False
    """Its handlers load nothing, so that many records of a partition may be applied as one changeset (all or none)."""
    linger: float = 0.0
    """Seconds that a gathering service waits for more records before it takes them: for those that nobody waits for."""
    schema: Schema | None = None
    api: Api | None = None
    tasks: Sequence[Callable[[], Awaitable[None]]] = ()
    """What runs beside the handlers until the service stops, such as writing checkpoints."""
    problems: Callable[[], Sequence[str]] = field(default=list)
    """Why it is not ready, asked by `/readyz`."""
