"""The envelope: CloudEvents 1.0.2 attributes of one event; headers on Kafka, columns in Postgres."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from libs.errors import Rejected
from libs.events.base import Event, registry
from libs.events.topics import Topic

E_co = TypeVar("E_co", bound=Event, covariant=True)

MAX_EVENT_BYTES = 256 * 1024
"""Maximum size of an event (architecture.md 2); a larger body is a blob."""


class Malformed(Rejected):
    """The event's data does not match its declared class."""

    code = "MALFORMED_EVENT"


@dataclass(frozen=True, slots=True)
class Envelope(Generic[E_co]):
    """One event with its origin. `id` is a UUIDv7; `time` is UTC; `key` is `tenant:session`."""

    id: str
    source: str
    time: datetime
    tenant: str
    key: str
    data: E_co
    subject: str | None = None
    session: str | None = None
    turn: str | None = None
    correlation: str | None = None
    causation: str | None = None
    idempotency: str | None = None
    traceparent: str | None = None

    @property
    def type(self) -> str:
        return self.data.type

    @property
    def topic(self) -> Topic:
        return self.data.topic

    def headers(self) -> dict[str, str]:
        """Return the attributes that have no column of their own, without the absent ones."""
        return headers(
            source=self.source,
            time=self.time,
            subject=self.subject,
            session=self.session,
            turn=self.turn,
            correlation=self.correlation,
            causation=self.causation,
            idempotency=self.idempotency,
            traceparent=self.traceparent,
        )


def headers(
    *,
    source: str,
    time: datetime,
    subject: str | None = None,
    session: str | None = None,
    turn: str | None = None,
    correlation: str | None = None,
    causation: str | None = None,
    idempotency: str | None = None,
    traceparent: str | None = None,
) -> dict[str, str]:
    """Return these attributes of an event by their names as headers, without the absent ones."""
    pairs = {
        "source": source,
        "time": time.isoformat(),
        "subject": subject,
        "sessionid": session,
        "turnid": turn,
        "correlationid": correlation,
        "causationid": causation,
        "idempotencykey": idempotency,
        "traceparent": traceparent,
    }
    return {name: value for name, value in pairs.items() if value is not None}


def parse(*, id: str, type: str, tenant: str, key: str, headers: dict[str, str], data: Any) -> Envelope[Event]:
    """Return the envelope of a record read from a bus.

    Raises:
        Malformed: the type is unknown or the data does not match it.
    """
    cls = registry.get(type)
    if cls is None:
        raise Malformed(f"no event class is declared for {type!r}")
    try:
        body = cls.model_validate(data)
    except ValidationError as error:
        # Places and rules without the values: the text is logged.
        where = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:3])
        raise Malformed(f"{type}: {where}") from error
    return Envelope(
        id=id,
        source=headers.get("source", ""),
        time=datetime.fromisoformat(headers["time"]),
        tenant=tenant,
        key=key,
        data=body,
        subject=headers.get("subject"),
        session=headers.get("sessionid"),
        turn=headers.get("turnid"),
        correlation=headers.get("correlationid"),
        causation=headers.get("causationid"),
        idempotency=headers.get("idempotencykey"),
        traceparent=headers.get("traceparent"),
    )
