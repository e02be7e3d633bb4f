"""Proofs: the gateway's signature under an event that speaks for a person (architecture.md 9).

The bus is not trusted: write access to `conversation.inbound` must not suffice to ask or decide in a person's name.
Therefore such an event carries a signature over its id, type, tenant, key, turn and fields. The conversation worker
verifies it before anything else, so a forged, altered or repeated event changes nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from libs.errors import Denied
from libs.events.base import Event
from libs.events.envelope import Envelope
from libs.events.inbound import Spoken
from libs.identity.tokens import BadToken, decoded, encoded
from libs.keys import Keys, Signature
from libs.keys.canonical import Uncanonical, canonical

PURPOSE = "inbound"
"""The name of the signing key. Only the gateway needs its private half."""
R = TypeVar("R")


class BadProof(Denied):
    """The event does not come from the gateway; send the request to the gateway."""

    code = "BAD_PROOF"


def sign(keys: Keys, event: Envelope[Event]) -> Envelope[Event]:
    """Return the event with its proof (`key id.base64url(signature)`), if it speaks for a person.

    Raises:
        Uncanonical: the fields contain a value that JSON cannot represent.
    """
    if not isinstance(event.data, Spoken):
        return event
    signature = keys.sign(PURPOSE, _payload(event, event.data))
    proof = f"{signature.key_id}.{encoded(signature.value)}"
    return replace(event, data=event.data.model_copy(update={"proof": proof}))


def verify(keys: Keys, event: Envelope[Any]) -> None:
    """Raise BadProof if an event that speaks for a person is not from the gateway, or was altered."""
    key_id, _, value = event.data.proof.partition(".")
    try:
        known = keys.verify(PURPOSE, _payload(event, event.data), Signature(key_id, decoded(value)))
    except (BadToken, Uncanonical) as error:
        raise BadProof(f"the proof is not valid: {error}") from error
    if not known:
        raise BadProof("the proof is missing, for another event, or a field was changed")


def proven(keys: Keys, handle: Callable[[Any, Any], Awaitable[R]]) -> Callable[[Any, Any], Awaitable[R]]:
    """Return the handler that verifies each event first."""

    async def verified(cause: Any, event: Envelope[Any]) -> R:
        verify(keys, event)
        return await handle(cause, event)

    return verified


def _payload(event: Envelope[Any], data: Spoken) -> bytes:
    """Return the canonical JSON of what a proof covers. A field at its default counts as absent."""
    fields = data.model_dump(mode="json", exclude={"proof"}, exclude_defaults=True)
    # With the id: the inbox would not recognise a copy under another one as a repetition.
    return canonical([event.id, event.type, event.tenant, event.key, event.turn, fields])
