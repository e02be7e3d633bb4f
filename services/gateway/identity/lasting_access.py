"""The access of a caller whose answer lasts: its key may be revoked, or a session hidden, before the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from fastapi.requests import HTTPConnection
from fastapi.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send
from typing_extensions import override

from libs.errors import Denied
from libs.identity import Principal
from libs.telemetry import logger
from services.gateway.identity.context import Identity
from services.gateway.identity.credentials import Presented
from services.gateway.identity.verification import Holder

log = logger("gateway")


class AccessChanged(Denied):
    """The credentials or the access to this session changed; authenticate again."""

    code = "ACCESS_CHANGED"


@dataclass(frozen=True, slots=True)
class Access:
    """A caller's right to an answer: its credential, and its sight of what the answer is about, if `look` raises no
    NotFound.
    """

    here: Identity
    who: Principal
    connection: HTTPConnection
    about: str | None = None
    look: Callable[[Principal, str], Awaitable[object]] | None = None

    @contextmanager
    def held(self, end: Callable[[], None] = lambda: None) -> Iterator[Holder]:
        """Verify it again and again until the block ends; call `end` once it is lost."""
        credential = cast("Presented", self.connection.state.credential), self.about
        with self.here.verification.hold(credential, self._allowed, end) as holder:
            yield holder

    async def _allowed(self) -> bool:
        """Return whether the caller may still see it. Raises Denied or NotFound if not, and Unavailable."""
        # Compared whole: the loss of a scope ends an answer as a revoked key does.
        if await self.here.credentials.still(self.connection.scope) != self.who:
            return False
        if self.about is not None and self.look is not None:
            await self.look(self.who, self.about)
        return True


class Download(StreamingResponse):
    """Content that ends early, and so incomplete, if the client loses its access."""

    def __init__(
        self, content: AsyncIterator[bytes], access: Access, headers: Mapping[str, str], *, status_code: int = 200
    ) -> None:
        super().__init__(content, status_code, headers)
        self._access = access

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except AccessChanged:
            log.warning("cut download whose client lost its access", path=scope["path"])

    @override
    async def stream_response(self, send: Send) -> None:
        with self._access.held() as holder:

            async def send_allowed(message: Message) -> None:
                if not holder.valid:
                    raise AccessChanged
                await send(message)

            await super().stream_response(send_allowed)


async def prepended(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield all of an answer whose first part was read before its head was sent."""
    yield first
    async for chunk in rest:
        yield chunk
