"""Verification of open streams: a stream ends within a second after its key is revoked, expires or loses a scope.

Streams with the same credential share a verification, so a thousand tabs of one person cost one query a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.types import Scope

from libs.errors import Denied, Unavailable
from libs.identity import Principal

Verify = Callable[[Scope], Awaitable[Principal]]


@dataclass(eq=False)
class Holder:
    """The holder of a credential with open streams. `scope` is the request of the first one."""

    scope: Scope
    who: Principal
    valid: bool = True
    """Whether the credential still identifies the same principal with the same scopes."""
    ends: list[Callable[[], None]] = field(default_factory=list)
    """A callback of each open stream, for when it does not."""

    def void(self) -> None:
        self.valid = False
        for end in self.ends:
            end()


class Verification:
    """The credentials behind the open streams of this process."""

    def __init__(self, verify: Verify, *, seconds: float) -> None:
        self._verify, self._seconds = verify, seconds
        self._holders: dict[Hashable, Holder] = {}

    @contextmanager
    def hold(self, credential: Hashable, scope: Scope, who: Principal, end: Callable[[], None]) -> Iterator[Holder]:
        """Verify a stream's credential again and again until the block ends; call `end` once it is void."""
        holder = self._holders.setdefault(credential, Holder(scope, who))
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
                if not await self._still(holder):
                    # A stream that opens from now on has been verified after this refusal.
                    self._holders.pop(credential, None)
                    holder.void()

    async def _still(self, holder: Holder) -> bool:
        try:
            return await self._verify(holder.scope) == holder.who
        except Unavailable:
            return True
        except Denied:
            return False
