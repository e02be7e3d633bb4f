"""The state of the sessions room, and the lookup of the caller's session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from fastapi.requests import HTTPConnection

from libs.errors import Denied, NotFound
from libs.identity import Principal
from services.gateway.files.context import Files
from services.gateway.http.context import Room, state_of
from services.gateway.http.errors import Refusal
from services.gateway.identity.access import acts, sees
from services.gateway.identity.context import Identity
from services.gateway.identity.lasting_access import Access
from services.gateway.sessions.models import Session
from services.gateway.sessions.open_turns import OpenTurns
from services.gateway.sessions.store import Store
from services.gateway.sessions.streams import Streams


class NoSuchSession(NotFound):
    """There is no such session; list your sessions."""


class ReadOnly(Denied):
    """This session is another principal's, and you may only read it; ask for write access."""

    code = "SESSION_READ_ONLY"


FOLDER = (
    Refusal(422, "ROOT_NOT_ALLOWED", "/home/ada is not inside an allowed root; allow it first"),
    Refusal(422, "NO_WORKSPACE", "this session has no folder; start one in a folder"),
    Refusal(422, "BAD_ROOT", "This folder cannot be a workspace; choose another."),
    Refusal(422, "WORKSPACE_FAILED", "The folder cannot be read; check that it exists."),
)
"""Errors of the tool executor about the folder of a session or request."""


@dataclass(frozen=True)
class Sessions(Room):
    identity: Identity
    files: Files
    store: Store
    streams: Streams
    open_turns: OpenTurns

    async def readable(self, caller: Principal, session: str) -> Session:
        """Return a session that the caller may read. Raises NotFound, also for one of others."""
        found = await self.store.session(caller.tenant, session)
        if found is None or not sees(caller, found.principal, found.shared):
            raise NoSuchSession
        return found

    async def writable(self, caller: Principal, session: str) -> Session:
        """Return a session that the caller may act in. Raises NotFound, and ReadOnly for one that it only reads."""
        found = await self.readable(caller, session)
        if not acts(caller, found.principal, found.shared):
            raise ReadOnly
        return found

    def access(self, caller: Principal, connection: HTTPConnection, session: str | None) -> Access:
        """Return the caller's right to an answer that lasts, about a session unless that is its own."""
        return Access(self.identity, caller, connection, session, self.readable)


@contextmanager
def seen_as(missing: type[NotFound]) -> Iterator[None]:
    """Report a hidden session as the object of it that the caller asked for, so that ids cannot be discovered."""
    try:
        yield
    except NoSuchSession:
        raise missing from None


Here = Annotated[Sessions, state_of("sessions")]
