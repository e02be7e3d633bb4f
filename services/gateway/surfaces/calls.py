"""One call of another protocol's client: the turn that it begins, continues or answers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from libs.errors import NotFound, SumaError
from libs.events import ApprovalRequested, Hitl
from services.gateway.http.store import Receipt
from services.gateway.sessions.approvals import AlreadyClosed
from services.gateway.sessions.models import Answer, FirstMessage
from services.gateway.sessions.outcomes import STALE
from services.gateway.sessions.store import Numbered
from services.gateway.surfaces import files, questions, segments
from services.gateway.surfaces.files import Given
from services.gateway.surfaces.segments import Segment
from services.gateway.surfaces.turns import ASKED, TurnClient

M = TypeVar("M", bound=BaseModel)
OURS = "suma_"
"""The beginning of a setting's name that no client uses for anything else."""
EARLIER_MOST = 50
"""Texts of a conversation by which it is found again."""
FILES_ALONE = "See the attached files."


class NothingDecided(SumaError):
    """An answer decided nothing; follow `place`, which shows what is open, or what followed."""

    def __init__(self, place: Segment) -> None:
        super().__init__()
        self.place = place


class AnswerUnclear(NothingDecided):
    """That is not a clear answer, so nothing was decided."""


class QuestionClosed(NothingDecided):
    """That question was closed before this answer, so it decided nothing."""


class NoSuchResponse(NotFound):
    """There is no such response; list the session's history."""


class Options(BaseModel):
    """Settings of Suma in a request; other members are the client's own."""

    model_config = ConfigDict(frozen=True, extra="allow")

    session_id: str | None = None
    root: str | None = None
    title: str | None = None
    hitl: Hitl | None = None
    skill: str | None = None
    agent: str | None = None
    stop_on_disconnect: bool = False
    """Whether the turn is cancelled when its client leaves."""

    @model_validator(mode="before")
    @classmethod
    def _prefixed(cls, given: Any) -> Any:
        """Map `suma_title` to `title`: a client may use the plain name for something else."""
        if not isinstance(given, dict):
            return given
        ours = {name.removeprefix(OURS): value for name, value in given.items() if str(name).startswith(OURS)}
        return {**given, **ours}

    def within(self, session_id: str | None) -> Options:
        """Return these settings for another session."""
        return self.model_copy(update={"session_id": session_id, f"{OURS}session_id": session_id})

    @property
    def names_session(self) -> bool:
        """Whether `session_id` is surely meant as one of Suma: a client may have one of its own."""
        return f"{OURS}session_id" in (self.model_extra or {})


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try of a call: the key of its work, and the segment that an earlier try began."""

    key: str
    begun: Segment | None = None

    @classmethod
    def after(cls, receipt: Receipt) -> Attempt:
        """Return a try of a call that has a receipt."""
        begun = (receipt.body["session_id"], receipt.body["turn_id"], receipt.body["after"])
        return cls(receipt.key, Segment(*begun, resumes=True))


@dataclass(frozen=True, slots=True)
class Wish:
    """The content of a call, and the question or session that it concerns."""

    text: str
    files: Sequence[Given] = ()
    options: Options = field(default_factory=Options)
    question: str | None = None
    """The name of the last question of its conversation."""
    segment: str | None = None
    """The name of the segment that it continues."""
    opens: str | None = None
    """The id of the session that it opens."""
    answers: bool = False
    """Whether it answers that question, and is nothing else if that is not open any more."""
    answer: dict[str, object] | None = None
    """The answer to an approval as an object, instead of text."""
    earlier: Sequence[str] = ()
    """The texts of its conversation before, as far as its client sends them."""


@dataclass(frozen=True, slots=True)
class Call:
    """A client's call: its turns, and whether it repeats an earlier one."""

    turns: TurnClient
    attempt: Attempt

    async def begin(self, wish: Wish) -> Segment:
        """Answer the question of a wish, or start a turn; return what follows.

        Raises:
            AnswerUnclear: it does not answer the approval that the turn waits for; its place asks again.
            QuestionClosed: it answers a question that is not open any more; its place is what followed.
        """
        if self.attempt.begun is not None:
            return self.attempt.begun
        wish = await self._placed(wish if wish.text or not wish.files else replace(wish, text=FILES_ALONE))
        asked = await self._asked(wish)
        if asked is None:
            return await self._start(wish)
        if isinstance(asked.event, ApprovalRequested):
            return await self._decide(asked, asked.event, wish)
        # Only now, when they are wanted for sure: each counts towards the tenant's uploads.
        uploads = await files.attached(self.turns, wish.files)
        try:
            await self.turns.reply(str(asked.turn_id), wish.text, attachments=uploads, key=self.attempt.key)
        except ValidationError as error:
            raise _invalid(error) from None
        return await self._after(asked)

    async def leave(self, begun: Segment, options: Options) -> None:
        """Cancel the turn of a client that leaves, if it wants that."""
        if options.stop_on_disconnect:
            await self.turns.abandon(begun.turn_id)

    async def _placed(self, wish: Wish) -> Wish:
        """Return a wish with the session of its conversation (decision 0099)."""
        options = wish.options
        if wish.question is not None or wish.segment is not None or options.names_session:
            return wish
        if options.session_id is not None and await self.turns.sees(options.session_id):
            return wish
        texts = wish.earlier[-EARLIER_MOST:]
        asking = [name.partition("_")[0] for text in texts if (name := questions.reference(text))]
        found = await self.turns.conversation(asking, texts, root=options.root) if texts else None
        return replace(wish, options=options.within(found))

    async def _asked(self, wish: Wish) -> Numbered | None:
        """Return the question that a wish answers. Raises QuestionClosed."""
        if wish.question is not None or wish.segment is not None:
            named = await self._named(wish)
            if named is None:
                return None
            last = await segments.last_question(self.turns, str(named.turn_id))
            if last is not None and last.seq == named.seq:
                return last
            approval = named.event if isinstance(named.event, ApprovalRequested) else None
            answers = approval is not None and _answer(approval, replace(wish, files=())) is not None
            if last is not None or wish.answers or answers:
                raise QuestionClosed(await segments.outcome(self.turns, str(named.turn_id)))
            return None
        if wish.options.session_id is None:
            return None
        open = await self.turns.open_turn(wish.options.session_id)
        return await segments.last_question(self.turns, open) if open is not None else None

    async def _named(self, wish: Wish) -> Numbered | None:
        """Return the question that a wish names, or with which the segment ends that it continues."""
        if wish.question is not None:
            return await segments.question(self.turns, wish.question)
        turn, segment = await segments.named(self.turns, wish.segment or "", missing=NoSuchResponse)
        events = await segments.so_far(self.turns, turn, segment)
        return events[-1] if events and events[-1].type in ASKED else None

    async def _start(self, wish: Wish) -> Segment:
        options, session = wish.options, wish.options.session_id
        if (place := wish.question or wish.segment) is not None:
            session = (await segments.named(self.turns, place))[1].session_id
        try:
            message = FirstMessage(
                text=wish.text,
                session_id=session,
                root=options.root if session is None else None,
                title=options.title if session is None else None,
                hitl=options.hitl,
                skill=options.skill,
                agent=options.agent,
                attachments=await files.attached(self.turns, wish.files),
            )
            started = await self.turns.start(message, key=self.attempt.key, opens=wish.opens)
        except ValidationError as error:
            raise _invalid(error) from None
        return Segment(started.session_id, started.turn_id, started.after, resumes=started.answers)

    async def _decide(self, asked: Numbered, approval: ApprovalRequested, wish: Wish) -> Segment:
        answer, place = _answer(approval, wish), await self._after(asked)
        if answer is not None:
            with suppress(AlreadyClosed):
                closed = await self.turns.conclude(approval.approval_id, answer, key=self.attempt.key)
                if closed is None or closed.outcome != STALE:
                    return place
        last = await segments.last_question(self.turns, place.turn_id)
        if last is None or last.seq != asked.seq:
            raise QuestionClosed(await segments.outcome(self.turns, place.turn_id))
        # The place before the question: its client is asked again.
        raise AnswerUnclear(replace(place, after=asked.seq - 1))

    async def _after(self, asked: Numbered) -> Segment:
        turn = await self.turns.turn(str(asked.turn_id))
        return Segment(turn.session_id, turn.turn_id, asked.seq, resumes=True)


def _answer(asked: ApprovalRequested, wish: Wish) -> Answer | None:
    """Return the answer of a wish to an approval; None if it is not clear. An approval takes no file."""
    if wish.files:
        return None
    if wish.answer is not None:
        return questions.answer_from(asked, wish.answer)
    # Words count only as the answer to the question that their client was shown.
    return questions.answer_to(asked, wish.text) if wish.question or wish.segment else None


def parsed(model: type[M], body: Any) -> M:
    """Return a request. Raises RequestValidationError, which names each wrong member."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise _invalid(error) from None


def _invalid(error: ValidationError) -> RequestValidationError:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return RequestValidationError([{**each, "loc": ("body", *each["loc"])} for each in found])
