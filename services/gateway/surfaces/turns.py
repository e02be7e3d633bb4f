"""Turns for clients of other protocols: start, follow, answer and cancel, with the checks of the HTTP API's own routes.

A surface translates its protocol to these calls and back. It decides nothing that a route decides.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

import anyio
from fastapi.requests import HTTPConnection

from libs.changes import Changeset
from libs.errors import NotFound, Rejected, SumaError
from libs.events import ApprovalClosed, ApprovalRequested, ClarificationRequested, ToolCall
from libs.identity import Principal
from services.gateway.files.incoming import Body
from services.gateway.files.media_types import claimed
from services.gateway.files.tus import Announced, file_name
from services.gateway.files.uploads import WRITE
from services.gateway.http import commands
from services.gateway.http.commands import IDEMPOTENCY_SECONDS, CommandResult, IdempotentRequest
from services.gateway.http.urls import base
from services.gateway.identity.reading import SESSIONS
from services.gateway.sessions import approvals
from services.gateway.sessions import routes as sessions
from services.gateway.sessions.models import (
    AWAITING_CLARIFICATION,
    Accepted,
    Answer,
    Cancel,
    Commanded,
    FirstMessage,
    TurnShown,
)
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.stream import End, View
from services.gateway.sessions.viewer import Item, TextDelta
from services.gateway.surfaces import questions
from services.gateway.surfaces.context import Gateway
from services.gateway.surfaces.questions import Asked

ASKED = ("clarification.requested", "approval.requested")
OUTCOME_LOOKS = 5
"""Times that an answer's outcome is waited for, each as long as the HTTP API waits."""
PAGE = 1_000
CANCEL_SECONDS = 5.0
"""Seconds that a request which has ended may take to cancel its turn."""


class NothingAsked(Rejected):
    """This turn waits for no clarification; read its state."""

    code = "NOTHING_ASKED"


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a person, and the event that asked it."""

    event: Numbered
    asked: Asked

    @property
    def name(self) -> str:
        return questions.name_of(self.event)


@dataclass(frozen=True, slots=True)
class TurnStatus:
    """A turn, and the question to a person that it waits for. Neither a question nor an end: it is still working."""

    turn: TurnShown
    question: Question | None


class TurnClient:
    """The turns of one caller. Each method raises the errors of its route."""

    def __init__(self, here: Gateway, who: Principal, connection: HTTPConnection) -> None:
        self._here, self._who, self._connection = here, who, connection

    @property
    def base(self) -> str:
        """Our address, as the caller knows it."""
        return base(self._connection.url.scheme, self._connection.headers["host"], self._here.settings.public_url)

    async def start(
        self,
        body: FirstMessage,
        *,
        call: ToolCall | None = None,
        key: str | None = None,
        opens: str | None = None,
        context: str | None = None,
    ) -> Accepted:
        """Send a message, in a new session unless one is named. A repeated `key` returns the first answer. `opens` is
        the id of a new session, `context` its name in the client's protocol. With `call` the turn makes this one call,
        under every check of a planned one; the message's text describes it.
        """
        asked = {**body.model_dump(mode="json"), **({"call": call.model_dump(mode="json")} if call else {})}
        once = IdempotentRequest(key, "start", asked)
        return await sessions.send_message(self._here, self._who, once, body, opens=opens, context=context, call=call)

    async def attach(self, filename: str, media_type: str, content: bytes) -> str:
        """Store a file as an upload, which `start` and `reply` can name. Raises the errors of uploads."""
        here, who = self._here, self._who
        file = Announced(file_name(filename), claimed(media_type), len(content))
        allowed = await commands.permitted(here, commands.cause_of(who), who, WRITE)
        upload = await here.files.uploads.open(who, file, allowed)
        body = Body(_once(content), seconds=here.settings.upload_idle_seconds)
        return (await here.files.uploads.receive(who, upload, body, allowed)).upload_id

    async def follow(self, turn: Accepted | TurnShown, *, after: int | None = None) -> AsyncGenerator[Item | End]:
        """Yield the turn's events, or those after a number or its answer, partial text and heartbeats, and at last why
        this ends.

        Raises:
            NotFound: there is no such session, or no such turn.
            TooManyStreams: too many streams are open.
        """
        await self._may_read()
        if after is None and isinstance(turn, Accepted) and turn.answers:
            after = turn.after
        elif after is None:
            after = await self._here.store.turn_began(self._who.tenant, turn.session_id, turn.turn_id)
        view = await View.of(self._here, self._who, self._connection, turn.session_id, after, turn.turn_id)
        async with aclosing(view.items()) as items:
            async for item in items:
                if isinstance(item, TextDelta) and item.step_id is not None:
                    continue  # Other protocols have one text: the output of a command would become the answer.
                if not isinstance(item, Numbered | TextDelta) or item.turn_id == turn.turn_id:
                    yield item

    async def begun(self, key: str) -> str | None:
        """Return the turn that a request of the caller with this key has begun."""
        found = await self.receipt(key)
        turn: str | None = found.get("turn_id") if found is not None else None
        return turn

    async def receipt(self, key: str) -> Mapping[str, Any] | None:
        """Return the first answer to a request of the caller with this key."""
        keep = IDEMPOTENCY_SECONDS
        found = await self._here.receipts.find(self._who.tenant, self._who.id, key, keep=keep)
        return found.body if found is not None else None

    async def turn(self, turn_id: str) -> TurnShown:
        await self._may_read()
        return await sessions.turn_of(self._here, self._who, turn_id)

    async def open_turn(self, session_id: str) -> str | None:
        """Return the oldest open turn of a session. Raises NotFound, also for a session of others."""
        await self._may_read()
        return (await self._here.readable(self._who, session_id)).turn_id

    async def sees(self, session_id: str) -> bool:
        """Return whether the caller may read a session of this id."""
        with suppress(NotFound):
            await self.open_turn(session_id)
            return True
        return False

    async def conversation(self, turns: Sequence[str], texts: Sequence[str], *, root: str | None) -> str | None:
        """Return the caller's session that holds these turns or texts, in this folder if it is named."""
        await self._may_read()
        who = self._who
        return await self._here.store.conversation(who.tenant, who.id, root=root, turns=turns, texts=texts)

    async def events(self, turn: TurnShown, *, after: int | None = None) -> Sequence[Numbered]:
        """Return a turn's events so far, or those after a number."""
        if after is None:
            after = await self._here.store.turn_began(self._who.tenant, turn.session_id, turn.turn_id)
        found, more = list[Numbered](), True
        while more:
            page = await self._here.store.events(self._who.tenant, turn.session_id, after=after, most=PAGE)
            found += [event for event in page.events if event.turn_id == turn.turn_id]
            more, after = page.more, page.events[-1].seq if page.events else after
        return found

    async def status(self, turn_id: str) -> TurnStatus:
        """Return a turn, and what it asks of a person."""
        turn = await self.turn(turn_id)
        waits, tenant = turn.state.startswith("awaiting"), self._who.tenant
        match await self._here.store.open_question(tenant, turn.session_id, turn_id) if waits else None:
            case Numbered(event=ApprovalRequested() | ClarificationRequested() as asked) as event:
                return TurnStatus(turn, Question(event, asked))
            case _:
                return TurnStatus(turn, None)

    async def reply(
        self, turn_id: str, text: str, *, attachments: Sequence[str] = (), key: str | None = None
    ) -> Accepted:
        """Answer the clarification that a turn waits for; follow that turn from `after`. Raises NothingAsked."""
        turn = await self.turn(turn_id)
        body = FirstMessage(text=text, session_id=turn.session_id, attachments=tuple(attachments))
        once = IdempotentRequest(key, f"reply {turn_id}", body.model_dump(mode="json"))
        # A repeated reply finds its question answered, by itself.
        if turn.state != AWAITING_CLARIFICATION and await commands.earlier(self._here, self._who, once) is None:
            raise NothingAsked
        return await sessions.send_message(self._here, self._who, once, body, answers=turn_id)

    async def decide(self, approval_id: str, answer: Answer, *, key: str | None = None) -> Commanded:
        """Approve, deny, or override an approval."""
        once = IdempotentRequest(key, f"approval {approval_id}", answer.model_dump(mode="json"))
        return await approvals.decide(self._here, self._who, once, approval_id, answer)

    async def conclude(self, approval_id: str, answer: Answer, *, key: str) -> ApprovalClosed | None:
        """Answer an approval, and wait for the outcome; return None if its worker is slow."""
        for _ in range(OUTCOME_LOOKS):
            if (done := await self.decide(approval_id, answer, key=key)).outcome is not None:
                return ApprovalClosed.model_validate(done.outcome.data)
        return None

    async def note(self, turn: TurnShown, key: str) -> None:
        """Keep a receipt that says only that something happened, for every replica. Safe to repeat."""

        async def decide() -> CommandResult:
            return CommandResult(Changeset(commands.cause_of(self._who, turn.session_id, turn.turn_id)), {})

        await commands.write(self._here, self._who, IdempotentRequest(key, "note", turn.turn_id), decide)

    async def cancel(self, turn_id: str, *, reason: str = "", key: str | None = None) -> Commanded:
        """Cancel a turn. Raises TurnOver if it has already ended."""
        self._who.require("chat")
        body = Cancel(reason=reason)
        once = IdempotentRequest(key, f"cancel {turn_id}", body.model_dump(mode="json"))
        return await sessions.cancel_turn(self._here, self._who, once, turn_id, body)

    async def abandon(self, turn_id: str) -> None:
        """Cancel a turn whose client has left, unless the connection ended because this server stops."""
        if self._here.concurrency.closed:
            return
        with anyio.CancelScope(shield=True), anyio.move_on_after(CANCEL_SECONDS), suppress(SumaError):
            await self.cancel(turn_id, reason="its client left")

    async def _may_read(self) -> None:
        await self._here.identity.reads.check(self._who, SESSIONS)


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
