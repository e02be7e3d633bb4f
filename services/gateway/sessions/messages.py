"""Accepted messages: the row in the sequence, the turn, and the event for the conversation worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from libs.changes import Cause, Changeset
from libs.events import Asset, Hitl, MessageReceived, ToolCall
from libs.identity import Principal
from services.gateway.files.rows import MessageAttached
from services.gateway.sessions.rows import MessageAccepted, SessionOpened, SessionTitled, TurnOpened

ACCEPTED = "suma.message.accepted.v1"
"""The only type in session_events that is not an event of the bus: a message answered with 202."""
TITLE_MOST = 80


@dataclass(frozen=True, slots=True)
class Message:
    """A message with its new ids. `at` is ISO 8601, `answers` the turn whose clarification it answers."""

    message_id: str
    turn_id: str
    text: str
    hitl: Hitl
    on_busy: str
    skill: str | None
    root: str | None
    at: str
    attachments: tuple[Asset, ...] = ()
    call: ToolCall | None = None
    answers: str | None = None
    agent: str | None = None
    job: bool = False


def title_of(text: str) -> str:
    """Return the first line of a message, the title of a session without one."""
    line = " ".join(text.strip().splitlines()[0].split())
    return line if len(line) <= TITLE_MOST else line[: TITLE_MOST - 1] + "…"


def opened(
    cause: Cause,
    caller: Principal,
    *,
    title: str | None,
    root: str | None,
    hitl: Hitl,
    at: str,
    context: str | None = None,
) -> Changeset:
    """Return the changeset of a new session. `context` is its name in another protocol."""
    return Changeset(cause).put(SessionOpened(cause.session, caller.id, title, root, hitl, at, context))


def accepted(cause: Cause, caller: Principal, message: Message) -> Changeset:
    """Return the changeset of a message: its event in the sequence, the turn that it begins unless it answers one, and
    the conversation worker's event.
    """
    place = message.answers or message.turn_id
    shown = MessageAccepted(
        session_id=cause.session,
        event_id=message.message_id,
        event_type=ACCEPTED,
        turn_id=place,
        occurred_at=message.at,
        data={
            "message_id": message.message_id,
            "text": message.text,
            "principal": caller.id,
            "hitl": message.hitl,
            "attachments": [asset.model_dump(mode="json") for asset in message.attachments],
            "answers": message.answers is not None,
        },
        correlation=cause.correlation,
        causation=cause.causation,
    )
    titled = SessionTitled(session_id=cause.session, title=title_of(message.text))
    changeset = Changeset(cause).put(shown, titled, *_attached(cause, caller, message, place))
    if message.answers is None:
        turn = _turn(cause, place, message_id=message.message_id, text=message.text, at=message.at, job=message.job)
        changeset = changeset.put(turn)
    return changeset.emit(
        MessageReceived(
            message_id=message.message_id,
            turn_id=message.turn_id,
            text=message.text,
            principal=caller.id,
            scopes=tuple(sorted(caller.scopes)),
            hitl=message.hitl,
            on_busy=message.on_busy,
            root=message.root,
            skill=message.skill,
            attachments=message.attachments,
            call=message.call,
            answers=message.answers,
            agent=message.agent,
        )
    )


def turn_opened(cause: Cause, *, turn_id: str, text: str, at: str) -> Changeset:
    """Return the changeset of a turn without a message: a rollback's."""
    return Changeset(cause).put(_turn(cause, turn_id, message_id=None, text=text, at=at))


def _attached(cause: Cause, caller: Principal, message: Message, turn: str) -> Iterator[MessageAttached]:
    for file in message.attachments:
        yield MessageAttached(
            session_id=cause.session,
            turn_id=turn,
            asset_id=file.asset_id,
            principal=caller.id,
            filename=file.filename,
        )


def _turn(cause: Cause, turn_id: str, *, message_id: str | None, text: str, at: str, job: bool = False) -> TurnOpened:
    return TurnOpened(
        turn_id=turn_id, session_id=cause.session, message_id=message_id, text=text, state="received", at=at, job=job
    )
