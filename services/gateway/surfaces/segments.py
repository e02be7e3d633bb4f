"""Segments: a turn for clients that ask once and get one answer (decision 0075).

A turn may ask a person several times before it ends; such a client gets a part of it for each call: up to the next
question, or to the end. A part is named by its turn and the number of the event that it begins after, so any replica
finds it again without a table.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from libs.errors import NotFound, Unavailable
from libs.events import ApprovalClosed, TurnEnded, reasons
from libs.texts import literal
from services.gateway.identity.lasting_access import AccessChanged
from services.gateway.sessions import outcomes
from services.gateway.sessions.models import Accepted, TurnShown
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.stream import End
from services.gateway.sessions.viewer import Heartbeat, TextDelta
from services.gateway.surfaces.turns import ASKED, TurnClient

NAME = re.compile(r"(?P<turn>[A-Za-z0-9][A-Za-z0-9.-]{0,63})_(?P<seq>[0-9]{1,18})")
AGAIN = "\n\n"


class NoSuchQuestion(NotFound):
    """There is no such question; read the turn's state."""


class Stopping(Unavailable):
    """This server is stopping; the turn goes on, so ask another server for it."""

    code = "STOPPING"
    retry_after = 2.0


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of a turn after an event number, up to its next question or its end."""

    session_id: str
    turn_id: str
    after: int
    resumes: bool = False
    """Whether the turn may have begun before it."""

    @property
    def name(self) -> str:
        return f"{self.turn_id}_{self.after}"


async def named(turns: TurnClient, name: str, *, missing: type[NotFound] = NoSuchQuestion) -> tuple[TurnShown, Segment]:
    """Return the segment with this name and its turn. Raises `missing`, also for one of others."""
    found = NAME.fullmatch(name)
    if found is None:
        raise missing
    try:
        turn = await turns.turn(found["turn"])
    except NotFound:
        raise missing from None
    return turn, Segment(turn.session_id, turn.turn_id, int(found["seq"]), resumes=True)


async def question(turns: TurnClient, name: str) -> Numbered:
    """Return the question with this name: its turn and event number. Raises NoSuchQuestion."""
    turn, segment = await named(turns, name)
    found = await turns.events(turn, after=segment.after - 1)
    if not found or found[0].seq != segment.after or found[0].type not in ASKED:
        raise NoSuchQuestion
    return found[0]


async def last_question(turns: TurnClient, turn_id: str) -> Numbered | None:
    """Return the question that an open turn waits for; None if it waits for none."""
    question = (await turns.status(turn_id)).question
    return question.event if question is not None else None


async def outcome(turns: TurnClient, turn_id: str) -> Segment:
    """Return the part of a turn after its last closed question."""
    turn, open = await turns.turn(turn_id), await last_question(turns, turn_id)
    asked = [event.seq for event in await turns.events(turn) if event.type in ASKED]
    closed = [seq for seq in asked if open is None or seq != open.seq]
    return Segment(turn.session_id, turn_id, (closed or asked)[-1], resumes=True)


async def follow(turns: TurnClient, segment: Segment) -> AsyncGenerator[Numbered | TextDelta | Heartbeat]:
    """Yield what happens in a segment. The last event is the question, or the turn's end. A question whose answer did
    not fit is still open: it is asked again.

    Raises:
        Stopping: this server stops before the end.
        AccessChanged: the caller may not see it any more.
    """
    started = Accepted(session_id=segment.session_id, message_id="", turn_id=segment.turn_id, after=segment.after)
    async with aclosing(until_the_end(turns, started, after=segment.after)) as items:
        async for item in items:
            match item:
                case Numbered(event=ApprovalClosed(outcome=outcomes.STALE)):
                    # The answer decided nothing: unless a newer question follows, the client gets the old one again.
                    open = await last_question(turns, segment.turn_id)
                    if open is not None and open.seq <= segment.after:
                        yield open
                        return
                case _:
                    yield item
                    if isinstance(item, Numbered) and ends(item):
                        return


async def until_the_end(
    turns: TurnClient, turn: Accepted | TurnShown, *, after: int
) -> AsyncGenerator[Numbered | TextDelta | Heartbeat]:
    """Yield what happens in a turn after an event, until it ends.

    Raises:
        Stopping: this server stops before the end.
        AccessChanged: the caller may not see it any more.
    """
    async with aclosing(turns.follow(turn, after=after)) as items:
        async for item in items:
            match item:
                case End.LEAVING:
                    raise Stopping
                case End.FORBIDDEN:
                    raise AccessChanged
                case End.DONE:
                    return
                case _:
                    yield item


async def left(request: Request, item: object) -> bool:
    """Return whether the client has left, as far as a heartbeat shows."""
    return isinstance(item, Heartbeat) and await request.is_disconnected()


async def earlier(turns: TurnClient, segment: Segment) -> list[Numbered]:
    """Return the events of a segment's turn before it."""
    if not segment.resumes:
        return []
    return [event for event in await turns.events(await turns.turn(segment.turn_id)) if event.seq <= segment.after]


async def so_far(turns: TurnClient, turn: TurnShown, segment: Segment) -> list[Numbered]:
    """Return the events of a segment up to now."""
    found = list[Numbered]()
    for event in await turns.events(turn, after=segment.after):
        found.append(event)
        if ends(event):
            break
    return found


def ends(event: Numbered) -> bool:
    """Return whether the event is the last one of its segment."""
    return event.type == "turn.ended" or event.type in ASKED


def end_text(ended: TurnEnded) -> str:
    """Return in plain words why a turn was not completed."""
    why = reasons.plain(": ".join(filter(None, (ended.reason, ended.detail))))
    return literal(f"This turn was {ended.state}: {why}" if why else f"This turn was {ended.state}.")


class Text:
    """The answer's text as a client has it. A client cannot take text back, so of a repeated model call only the end
    result counts.
    """

    def __init__(self) -> None:
        self.sent = ""
        self._call: tuple[str, int] | None = None
        self._repeated = False

    def resume(self, held: str) -> None:
        """Go on after what the client kept of an interrupted stream; the end result completes it."""
        self.sent, self._repeated = held, True

    def piece(self, delta: TextDelta) -> str:
        """Return the text to send for a partial text."""
        call = delta.call, delta.attempt
        self._repeated = self._repeated or self._call not in (None, call)
        self._call = call
        return "" if self._repeated else self._add(delta.text)

    def rest(self, whole: str) -> str:
        """Return the text that completes what was sent to the whole answer."""
        return self._add(whole[len(self.sent) :] if whole.startswith(self.sent) else AGAIN + whole)

    def _add(self, text: str) -> str:
        self.sent += text
        return text


Json = dict[str, Any]
