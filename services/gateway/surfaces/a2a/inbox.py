"""A client's messages: the turn that each starts, or the question that it answers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
from a2a.types.a2a_pb2 import SendMessageRequest
from a2a.utils.errors import InvalidParamsError

from libs import ids
from libs.events import ApprovalRequested
from services.gateway.sessions.context import NoSuchSession
from services.gateway.sessions.models import Accepted, FirstMessage, Session
from services.gateway.sessions.outcomes import STALE
from services.gateway.surfaces.a2a.messages import MessageContent, answer_to, said
from services.gateway.surfaces.a2a.request import Call, Sent
from services.gateway.surfaces.a2a.store import TaskStore
from services.gateway.surfaces.context import Gateway
from services.gateway.surfaces.files import attached
from services.gateway.surfaces.turns import ASKED

AWAITING_APPROVAL = "awaiting_approval"
ANSWERED = "request_id"
"""The member of a receipt that only the receipt of an answer to an approval has."""
FIXED = ("root", "title")
"""Options that a session has from its first message."""
NAME_MOST = 200
"""Characters of a context's name."""


@dataclass(frozen=True, slots=True)
class Context:
    """A context as its client knows it, and its session; None: the client's message opens the session."""

    name: str
    session_id: str
    session: Session | None = None


class Inbox:
    """The messages of a gateway's clients."""

    def __init__(self, here: Gateway, store: TaskStore) -> None:
        self._here, self._store = here, store

    async def take(self, call: Call, params: SendMessageRequest) -> Sent:
        """Start a turn, or answer what the named task or context asks. Safe to repeat."""
        message, name = said(params), params.message.context_id
        context = await self.context(call, name) if name else None
        if params.message.task_id:
            return await self._answered(call, params.message.task_id, context, message, shown=True)
        # A repeated message is what it was, whatever its context asks by now; and its files are stored already.
        taken = await call.turns.receipt(message.key) if context or message.files else None
        if taken is not None and (ANSWERED in taken or taken.get("answers")):
            return await self._answered(call, taken["turn_id"], context, message, shown=False)
        if taken is not None:
            return _started(context, Accepted.model_validate(taken), message)
        session = context.session if context else None
        if session is not None and session.turn_id is not None and session.turn_state == AWAITING_APPROVAL:
            return await self._answered(call, session.turn_id, context, message, shown=False)
        if context and message.digest is not None:
            raise InvalidParamsError("the context waits for no approval; get its tasks")
        return await self._start(call, context, message)

    async def context(self, call: Call, name: str) -> Context:
        """Return the context of a name: a session that the caller sees by this id, else one of its own, to open if need
        be.
        """
        if len(name) > NAME_MOST:
            raise InvalidParamsError(f"a contextId has at most {NAME_MOST} characters")
        own = ids.derived("a2a", call.who.tenant, call.who.id, name)
        for place in (name, own):
            with suppress(NoSuchSession):
                found = await self._here.readable(call.who, place)
                given = found.context if found.principal == call.who.id else None
                return Context(given or place, place, found)
        return Context(name, own)

    async def _start(self, call: Call, context: Context | None, message: MessageContent) -> Sent:
        options = dict[str, Any](message.options)
        if context and context.session:
            # Some clients say with each message where and how its context began.
            options = {n: v for n, v in options.items() if n not in FIXED or v != getattr(context.session, n)}
            options["session_id"] = context.session_id
        asking = context.session.asking if context and context.session else None
        asked_at = (await self._store.now(call.who.tenant, call.who.id, asking)).at if asking else None
        if message.files:
            options["attachments"] = [*options.get("attachments", ()), *await attached(call.turns, message.files)]
        asked = FirstMessage(text=_text(message), **options)
        opens, name = (context.session_id, context.name) if context and not context.session else (None, None)
        accepted = await call.turns.start(asked, key=message.key, opens=opens, context=name)
        return Sent(accepted.turn_id, asked_at=asked_at) if accepted.answers else _started(context, accepted, message)

    async def _answered(
        self, call: Call, task: str, context: Context | None, message: MessageContent, *, shown: bool
    ) -> Sent:
        """Answer what a task asks. `shown`: the client names the task, so it can know the task's first question."""
        status = await call.turns.status(task)
        if context and context.session_id != status.turn.session_id:
            raise InvalidParamsError("the task belongs to another context")
        taken = await call.turns.receipt(message.key)
        events = await call.turns.events(status.turn) if status.question is not None else ()
        asked = [event for event in events if event.type in ASKED]
        if taken is not None and (not asked or asked[-1].seq > taken["after"]):
            # The task has taken this message before, and asks nothing or something else since.
            return Sent(task)
        asked_at = (await self._store.now(call.who.tenant, call.who.id, task)).at
        if status.question is not None and isinstance(status.question.asked, ApprovalRequested):
            decided = await self._decided(call, status.question.asked, message, shown=shown and len(asked) == 1)
            return Sent(task, asked_at=asked_at if decided else None)
        if taken is None:
            files = await attached(call.turns, message.files)
            await call.turns.reply(task, _text(message), attachments=files, key=message.key)
        return Sent(task, asked_at=asked_at)

    async def _decided(self, call: Call, asked: ApprovalRequested, message: MessageContent, *, shown: bool) -> bool:
        """Answer an approval; return whether a worker has taken the answer yet.

        Raises: InvalidParamsError: the answer did not fit, so the question stays open.
        """
        answer = answer_to(asked, message, shown=shown)
        closed = await call.turns.conclude(asked.approval_id, answer, key=message.key)
        if closed is not None and closed.outcome == STALE:
            raise InvalidParamsError(closed.reason or "the answer came too late")
        return closed is not None


def _started(context: Context | None, accepted: Accepted, message: MessageContent) -> Sent:
    return Sent(accepted.turn_id, accepted, _text(message), context.name if context else "")


def _text(message: MessageContent) -> str:
    """Return the text of a message; a data part without words is its own text."""
    if not message.text and message.data is not None:
        return orjson.dumps(message.data, option=orjson.OPT_INDENT_2).decode()
    return message.text
