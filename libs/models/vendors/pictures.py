"""Pictures that a turn's steps read, for a model that sees: the newest few, with their bytes from the object store.

A step's data names the blob of its picture, which the executor made small (0118). The payer of a call names the tenant
whose pictures it may show.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from libs.budgets.paying import payer
from libs.errors import NotFound
from libs.events.values import Observation

MOST, BYTES_MOST = 4, 1 << 20
"""Pictures of one request, and bytes of each."""
TOKENS_MOST = 3_300
"""Tokens of a picture with sides of at most 1,568 pixels: Anthropic counts width × height / 750, OpenAI fewer (but for
its cheapest models, whose price of a token is as much lower).
"""
SHA256 = re.compile(r"[0-9a-f]{64}")
JPEG = b"\xff\xd8\xff"
Load = Callable[[str, str], Awaitable[bytes]]
"""Return a tenant's blob. Raises NotFound, Unavailable."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """The pictures of a request, by the number of their step; those of the steps in `left_out` are not shown."""

    blobs: tuple[tuple[int, str], ...] = ()
    left_out: tuple[int, ...] = ()
    loaded: tuple[tuple[int, bytes], ...] = ()

    @property
    def tokens_most(self) -> int:
        return len(self.blobs) * TOKENS_MOST


def of(observations: Sequence[Observation]) -> Pictures:
    """Return the newest pictures of these steps."""
    found = [(each.ordinal, blob) for each in observations if (blob := _blob(each)) is not None]
    return Pictures(tuple(found[-MOST:]), tuple(step for step, _ in found[:-MOST]))


async def loaded(pictures: Pictures, load: Load) -> Pictures:
    """Return them with their bytes. A picture that is gone, or is none, counts as left out. Raises Unavailable."""
    whose, found = payer(), list[tuple[int, bytes]]()
    for step, blob in pictures.blobs:
        if whose is None:
            break
        with suppress(NotFound):
            content = await load(whose.tenant, blob)
            # Any tool may have named the blob.
            if content.startswith(JPEG) and len(content) <= BYTES_MOST:
                found.append((step, content))
    here = {step for step, _ in found}
    gone = tuple(step for step, _ in pictures.blobs if step not in here)
    return Pictures(pictures.blobs, (*pictures.left_out, *gone), tuple(found))


def _blob(observation: Observation) -> str | None:
    data = observation.data
    picture = data.get("picture") if isinstance(data, dict) else None
    blob = picture.get("sha256") if isinstance(picture, dict) else None
    return blob if isinstance(blob, str) and SHA256.fullmatch(blob) else None
