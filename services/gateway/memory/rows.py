"""The rows of erasures: one class for each paragraph of `apply.sql`."""

from __future__ import annotations

from libs.changes import Row, row
from services.gateway.schema import GROUP


@row(GROUP, "session.erase")
class SessionErased(Row):
    """A session with all that is in it; conflicts while one of its turns is open."""

    session_id: str


@row(GROUP, "person.erase")
class PersonErased(Row):
    """The data of a principal outside sessions, except uploads, which `upload.drop` deletes with their contents."""

    principal: str
