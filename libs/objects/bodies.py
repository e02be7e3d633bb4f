"""Bodies: JSON of any size on an event. Small ones travel inside it, large ones as a blob (architecture.md 6)."""

from __future__ import annotations

import json

from libs.errors import Rejected
from libs.events.values import Body, Json
from libs.objects.ports import Objects

INLINE = 64 * 1024
"""Bytes of JSON up to which a body travels inside its event: a quarter of the largest event."""


REPEATED = 32 * 1024
"""Bytes of a member that a body repeats."""


class NotJson(Rejected):
    """The value cannot be written as JSON."""

    code = "NOT_JSON"


async def store(objects: Objects, tenant: str, value: Json) -> Body:
    """Return the body of `value`; a large one is durable in the store before this returns.

    Raises:
        NotJson: another type, NaN or infinity, or a lone surrogate.
    """
    raw = _written(value)
    if len(raw) <= INLINE:
        return Body(json=value, size=len(raw))
    blob = await objects.put(tenant, raw)
    return Body(sha256=blob.sha256, size=blob.size, **_repeated(value))


def _repeated(value: Json) -> dict[str, dict[str, Json]]:
    """Return the members that a body repeats beside its blob. A tool of others may give these names to anything."""
    named = {name: value.get(name) for name in ("left_alone", "excerpt")} if isinstance(value, dict) else {}
    return {
        name: found for name, found in named.items() if isinstance(found, dict) and len(_written(found)) <= REPEATED
    }


async def load(objects: Objects, tenant: str, body: Body) -> Json:
    """Return the value that `store` was given.

    Raises:
        BlobMissing: it was deleted, or is another tenant's.
    """
    if body.sha256 is None:
        return body.json_
    return json.loads(await objects.get(tenant, body.sha256))


def _written(value: Json) -> bytes:
    try:
        # Sorted keys make equal values one blob.
        return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(f"not JSON: {error}") from error
