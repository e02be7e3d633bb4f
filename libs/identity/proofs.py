"""Proofs: the gateway's signature under an event that speaks for a person (DESIGN §8).

The bus is not trusted: write access to `conversation.inbound` must not suffice to ask or decide in a person's name.
Therefore such an event carries a token over its id, type, tenant, key, turn and fields. The conversation worker
verifies it before anything else, so a forged, altered or repeated event changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from libs.errors import Denied
from libs.events.base import Event
from libs.events.envelope import Envelope
from libs.events.inbound import Spoken
from libs.identity.tokens import BadToken, Claims, seal, unseal
from libs.keys import Keys
from libs.keys.canonical import Uncanonical, canonical

PURPOSE = "inbound"
"""The name of the signing key. Only the gateway needs its private half."""
R = TypeVar("R")


class BadProof(Denied):
    """The event does not come from the gateway; send the request to the gateway."""

    code = "BAD_PROOF"


class ProofClaims(Claims):
    """The event that a proof is for."""

    id: str
    type: str
    tenant: str
    key: str
    turn: str | None = None
    digest: str
    """SHA-256, in hex, of the canonical JSON of the fields but the proof; those at their defaults count as absent."""


def sign(keys: Keys, event: Envelope[Event]) -> Envelope[Event]:
    """Return the event with its proof, if it speaks for a person.

    Raises:
        Uncanonical: the fields contain a value that JSON cannot represent.
    """
    if not isinstance(event.data, Spoken):
        return event
    return replace(event, data=event.data.model_copy(update={"proof": seal(keys, PURPOSE, _claims(event, event.data))}))


def verify(keys: Keys, event: Envelope[Any]) -> None:
    """Raise BadProof if an event that speaks for a person is not from the gateway, or was altered."""
    try:
        claims = unseal(keys, PURPOSE, ProofClaims, event.data.proof)
        expected = _claims(event, event.data)
    except (BadToken, Uncanonical) as error:
        raise BadProof(f"the proof is not valid: {error}") from error
    if claims != expected:
        raise BadProof("the proof is for another event, or a field was changed")


def proven(keys: Keys, handle: Callable[[Any, Any], Awaitable[R]]) -> Callable[[Any, Any], Awaitable[R]]:
    """Return the handler that verifies each event first."""

    async def verified(cause: Any, event: Envelope[Any]) -> R:
        verify(keys, event)
        return await handle(cause, event)

    return verified


def _claims(event: Envelope[Any], data: Spoken) -> ProofClaims:
    fields = data.model_dump(mode="json", exclude={"proof"}, exclude_defaults=True)
    digest = hashlib.sha256(canonical(fields)).hexdigest()
    return ProofClaims(id=event.id, type=event.type, tenant=event.tenant, key=event.key, turn=event.turn, digest=digest)
