"""Verification of open streams: a stream ends within a second after its caller may no longer see it.

Its key may be revoked, expire or lose a scope, or another's session may no longer be shared. Streams with the same
credential share a verification, so a thousand tabs of one person cost one query a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from libs.errors import Rejected, Unavailable

Allowed = Callable[[], Awaitable[bool]]


@dataclass(eq=False)
class Holder:
    """The holder of a credential with open streams."""

    allowed: Allowed
    valid: bool = True
    """Whether the last verification allowed the streams."""
    ends: list[Callable[[], None]] = field(default_factory=list)
    """A callback of each open stream, for when it does not."""

    def void(self) -> None:
        self.valid = False
        for end in self.ends:
            end()


class Verification:
    """The credentials behind the open streams of this process."""

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._holders: dict[Hashable, Holder] = {}

    @contextmanager
    def hold(self, credential: Hashable, allowed: Allowed, end: Callable[[], None]) -> Iterator[Holder]:
        """Ask again and again whether a stream is allowed until the block ends; call `end` once it is not. Streams with
        an equal `credential` share the answer.
        """
        holder = self._holders.setdefault(credential, Holder(allowed))
        holder.ends.append(end)
        try:
            yield holder
        finally:
            holder.ends.remove(end)
            if not holder.ends and self._holders.get(credential) is holder:
                del self._holders[credential]

    async def serve(self) -> None:
        """Verify all in turn until cancelled. Without Postgres the streams stay open, and show nothing new."""
        while True:
            await asyncio.sleep(self._seconds)
            for credential, holder in list(self._holders.items()):
                if not await _still(holder):
                    # A stream that opens from now on has been verified after this refusal.
                    self._holders.pop(credential, None)
                    holder.void()


async def _still(holder: Holder) -> bool:
    try:
        return await holder.allowed()
    except Unavailable:
        return True
    except Rejected:
        return False
