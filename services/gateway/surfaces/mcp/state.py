"""State that a client carries between requests: the session id of a handshake, and the position in a stream."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.datastructures import Headers
from typing_extensions import override

from libs import ids
from libs.errors import NotFound
from libs.identity import BadToken, Claims, Principal
from libs.identity.tokens import encoded, seal, unseal
from libs.keys import Keys

PURPOSE = "mcp.session"
"""The name of the key that signs session ids."""
STATE = "mcp.request_state"
"""The name of the secret that encrypts `requestState`."""
SESSION_ID, LAST_EVENT_ID, IDEMPOTENCY_KEY = "mcp-session-id", "last-event-id", "idempotency-key"


class NoSuchMcpSession(NotFound):
    """This session id is not valid here; initialize again."""


class Session(Claims):
    """A handshake, as its session id says it: the caller, and what the client can do."""

    id: str
    tenant: str
    principal: str
    elicits: bool = False
    """Whether the client can ask its user with a form."""

    def key_of(self, request_id: Any) -> str:
        """Return the idempotency key of a request: it names the request's turn on every replica."""
        return f"mcp-{hashlib.sha256(orjson.dumps([self.id, request_id])).hexdigest()}"


def open_session(keys: Keys, who: Principal, capabilities: Mapping[str, Any]) -> str:
    """Return the id of a new session."""
    elicits = elicits_forms(capabilities.get("elicitation"))
    return seal(keys, PURPOSE, Session(id=ids.new(), tenant=who.tenant, principal=who.id, elicits=elicits))


def session_of(keys: Keys, who: Principal, headers: Headers) -> Session | None:
    """Return the session of a request; None if it names none. Raises NoSuchMcpSession, also for one of others."""
    text = headers.get(SESSION_ID)
    if text is None:
        return None
    try:
        session = unseal(keys, PURPOSE, Session, text)
    except BadToken:
        raise NoSuchMcpSession from None
    # The id is no credential: a leaked one is worth nothing without its caller's.
    if (session.tenant, session.principal) != (who.tenant, who.id):
        raise NoSuchMcpSession
    return session


def elicits_forms(capability: Any) -> bool:
    """Return whether a client's capability `elicitation` covers forms; `{}` meant them before modes existed."""
    return isinstance(capability, Mapping) and (not capability or "form" in capability)


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the stream of a call: its request, and the number of the last event that the client saw."""

    request_id: str | int
    seq: int
    progress_token: str | int | None = None
    turn_id: str | None = None
    """The turn that the call follows; None until it has one."""

    @override
    def __str__(self) -> str:
        raw = orjson.dumps([self.request_id, self.seq, self.progress_token, self.turn_id])
        return encoded(raw)

    @classmethod
    def parse(cls, text: str) -> Position:
        """Return the position of an event id. Raises NoSuchMcpSession."""
        try:
            request_id, seq, token, turn_id = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        except ValueError:
            raise NoSuchMcpSession("this event id is not one of this server") from None
        if not isinstance(request_id, str | int) or not isinstance(seq, int):
            raise NoSuchMcpSession("this event id is not one of this server")
        known = turn_id if isinstance(turn_id, str) else None
        return cls(request_id, seq, token if isinstance(token, str | int) else None, known)
