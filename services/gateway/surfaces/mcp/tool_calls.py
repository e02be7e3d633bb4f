"""A call of a tool: begin a turn or find it, follow it, pass its questions on, and return its result.

A turn belongs to the platform and not to the call. In 2026-07-28 a closed response stream cancels a request, and so the
turn that it began; before, only `notifications/cancelled` does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import orjson
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ElicitRequest,
    ElicitResult,
    InputRequiredResult,
    ResourceLink,
    TextContent,
)
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request

from libs.errors import Rejected, SumaError
from libs.events import (
    ApprovalClosed,
    ApprovalRequested,
    Asset,
    ClarificationRequested,
    StepChanged,
    StepState,
    ToolCall,
)
from libs.identity import Principal
from libs.skills import ToolDefinition
from libs.texts import literal
from services.gateway.http.values import digest, flaw
from services.gateway.multimodal.models import JobAsset
from services.gateway.sessions.models import Accepted, FirstMessage, TurnShown
from services.gateway.sessions.outcomes import STALE
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.stream import End
from services.gateway.sessions.viewer import Heartbeat
from services.gateway.surfaces.context import Gateway
from services.gateway.surfaces.mcp import catalogue, errors, questions
from services.gateway.surfaces.mcp.catalogue import CANCEL, FOLLOW, ROOT, RUN, SESSION
from services.gateway.surfaces.mcp.progress import words_of
from services.gateway.surfaces.mcp.state import IDEMPOTENCY_KEY, elicits_forms
from services.gateway.surfaces.turn_view import TurnView, fold
from services.gateway.surfaces.turns import Question, TurnClient

Context = ServerRequestContext[Any, Request]
Result = CallToolResult | InputRequiredResult

ARGS_BYTES = 32 * 1024
"""Bytes of a given call's arguments: they travel inside events."""
TEXT_MOST = 300
"""Characters of the message that describes a given call."""
CANCEL_SECONDS = 5.0
LOOK_SECONDS = 1.0
"""Seconds between two looks at whether the client has dismissed its form."""
FAR_SECONDS = 1e10
"""A time beyond every clock, in Unix seconds: the year 2286."""
QUESTION = "question"
"""The key of the one form of an `input_required` result."""


class Stream(Protocol):
    """The stream of a call of a handshake: it asks, and can be left, while the call goes on."""

    elicits: bool
    key: str | None
    """The idempotency key of the request."""
    seen: int
    """The last event that the client received on an earlier stream."""

    def follow(self, turn_id: str) -> None:
        """Note the turn that the call follows."""

    def at(self, seq: int) -> None:
        """Note the number of the last event that was sent to the client."""

    async def ask(self, turn_id: str, question: Question) -> str:
        """Send a question to the client; return the name of the form. The answer reaches the turn by itself."""

    async def leave(self) -> None:
        """End the stream without an answer. Never returns: the call is over."""


class RequestState(BaseModel):
    """State that a client returns with its answers. The SDK encrypts it, and binds it to the caller and the request."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turn_id: str
    asked: str
    """The name of the question."""


@dataclass
class Call:
    """One request: its caller, its gateway, and the way to its client."""

    context: Context
    here: Gateway
    turns: TurnClient
    stream: Stream | None
    """None in 2026-07-28."""
    asked: dict[str, int] = field(default_factory=dict)
    """Questions that this request has asked, or that it answers, each with the number of the last event before that."""
    following: str = ""
    """The turn that it follows."""
    form: str = ""
    """The name of the last form that it sent to the client."""

    @classmethod
    def of(cls, context: Context) -> Call:
        request = context.request
        assert request is not None
        here: Gateway = request.app.state.surfaces
        turns = TurnClient(here, request.state.caller, request)
        return cls(context, here, turns, getattr(request.state, "mcp", None))

    @property
    def who(self) -> Principal:
        assert self.context.request is not None
        who: Principal = self.context.request.state.caller
        return who

    @property
    def elicits(self) -> bool:
        """Return whether the client can ask its user with a form."""
        if self.stream is not None:
            return self.stream.elicits
        capabilities = self.context.session.client_capabilities
        declared = capabilities.elicitation if capabilities is not None else None
        return declared is not None and elicits_forms(declared.model_dump(exclude_none=True))

    @property
    def key(self) -> str | None:
        assert self.context.request is not None
        sent: str | None = self.context.request.headers.get(IDEMPOTENCY_KEY)
        return sent or (self.stream.key if self.stream is not None else None)

    async def run(self, params: CallToolRequestParams) -> Result:
        """Make the call. Raises MCPError for a tool that does not exist."""
        args = params.arguments or {}
        tool = catalogue.primitive(self.here.platform.skills, self.who.tenant, params.name)
        if tool is None and params.name not in (RUN, FOLLOW, CANCEL):
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {params.name}")
        try:
            if (wrong := flaw(args)) is not None:
                raise Rejected(f"the arguments are not accepted: {wrong}")
            return await self._made(tool, params, args)
        except SumaError as error:
            assert self.context.request is not None
            await errors.note(self.here, self.context.request, error)
            return errors.failed(error)
        except ValidationError as error:
            return errors.failed(error)

    async def _made(self, tool: ToolDefinition | None, params: CallToolRequestParams, args: dict[str, Any]) -> Result:
        if params.name == CANCEL:
            return await self._cancel(args)
        # Before a turn begins: a call that cannot follow its turn must not leave one behind.
        self.here.streams.check_capacity(self.who.tenant)
        if params.request_state is not None:
            return await self._go_on(RequestState.model_validate_json(params.request_state), params)
        if params.name == FOLLOW:
            return await self.follow(await self.turns.turn(_one(args, "turn_id")))
        return await self._until_it_ends(await self._begun(tool, args))

    async def _until_it_ends(self, turn: Accepted | TurnShown) -> Result:
        async with self._cancelling():
            return await self.follow(turn)

    async def _begun(self, tool: ToolDefinition | None, args: dict[str, Any]) -> Accepted:
        await self._check_free(args.get(SESSION))
        if tool is None:
            return await self.turns.start(FirstMessage(**_named(args)), key=self.key)
        place = {name: args.pop(name) for name in (SESSION, ROOT) if name in args}
        if tool.in_workspace and not place:
            raise Rejected(f"{tool.name} works in a folder; name one with {ROOT}, or a session with {SESSION}")
        if len(orjson.dumps(args)) > ARGS_BYTES:
            raise Rejected(f"the arguments are longer than {ARGS_BYTES} bytes of JSON")
        text = f"{tool.name} {orjson.dumps(args).decode()}"[:TEXT_MOST]
        message, call = FirstMessage(text=text, **place), ToolCall(tool=tool.name, args=args)
        return await self.turns.start(message, call=call, key=self.key)

    async def _check_free(self, session: Any) -> None:
        """Raise Rejected if a new turn of the session would wait for a person. A repeated call begins no turn."""
        if not isinstance(session, str) or (self.key is not None and await self.turns.begun(self.key)):
            return
        open = await self.turns.open_turn(session)
        question = (await self.turns.status(open)).question if open is not None else None
        if question is not None and isinstance(question.asked, ApprovalRequested):
            raise Rejected(
                f"the session waits for an approval, which no tool gives; call {FOLLOW} with turn_id {open}, then this",
                code="SESSION_WAITS",
            )

    async def _go_on(self, state: RequestState, params: CallToolRequestParams) -> Result:
        """Pass a person's answer on, and follow the turn. Without a usable answer the question is asked again."""
        said = (params.input_responses or {}).get(QUESTION)
        status = await self.turns.status(state.turn_id)
        question = status.question
        if isinstance(said, ElicitResult) and question is not None and question.name == state.asked:
            if said.action == "cancel":
                return waiting(status.turn, question)
            seen = await self._last(status.turn)
            if await answer(self.turns, state.turn_id, question, said):
                self.asked[state.asked] = seen
        return await self._until_it_ends(status.turn)

    async def _cancel(self, args: dict[str, Any]) -> Result:
        done = await self.turns.cancel(_one(args, "turn_id"), reason=str(args.get("reason", "")))
        return ended(await self.turns.turn(done.turn_id), None)

    async def follow(self, turn: Accepted | TurnShown) -> Result:
        """Report progress until the turn ends, or asks what this client cannot be asked or does not want to answer."""
        dismissed: list[Result] = []
        with anyio.CancelScope() as scope:
            watch = asyncio.ensure_future(self._watch_form(dismissed, scope.cancel))
            try:
                return await self._followed(turn)
            finally:
                watch.cancel()
        return dismissed[0]

    async def _watch_form(self, dismissed: list[Result], leave: Callable[[], None]) -> None:
        """Leave once the client has dismissed its form, at any replica, and the question is still open."""
        while True:
            await anyio.sleep(LOOK_SECONDS)
            with suppress(SumaError):
                if not self.form or await self.turns.receipt(dismissal(self.form)) is None:
                    continue
                turn_id, asked, *_ = self.form.split("/")
                status, self.form = await self.turns.status(turn_id), ""
                if status.question is not None and status.question.name == asked:
                    dismissed.append(waiting(status.turn, status.question))
                    leave()

    async def _followed(self, turn: Accepted | TurnShown) -> Result:
        """Return the result of a turn."""
        assert self.context.request is not None
        # The turn may take long: a call that waits counts as a stream, not as a running request.
        self.context.request.state.release()
        self.following = turn.turn_id
        if self.stream is not None:
            self.stream.follow(turn.turn_id)
        after, view = 0, TurnView()
        async with aclosing(self.turns.follow(turn)) as items:
            async for item in items:
                match item:
                    case Numbered():
                        after, view = item.seq, fold(view, item)
                        await self._tell(turn, item)
                        if (asked := await self._ask(turn, item)) is not None:
                            return asked
                    case Heartbeat():
                        await self._wait(after)
                    case End.LEAVING | End.FORBIDDEN:
                        return await self._left(turn, item)
        return ended(await self.turns.turn(turn.turn_id), view.step, list(view.made.values()))

    async def _tell(self, turn: Accepted | TurnShown, event: Numbered) -> None:
        """Report an event as progress. Its number grows from event to event, on every stream of the call."""
        if self.stream is not None:
            if event.seq <= self.stream.seen:
                return
            self.stream.at(event.seq)
        words = words_of(event, turn.session_id)
        if words:
            await self.context.session.report_progress(float(event.seq), message=words)

    async def _wait(self, after: int) -> None:
        """Report that the turn goes on: hosts give up on a call that reports nothing, and cancel it. The numbers grow
        with the time, on every stream of the call, and stay below that of the next event.
        """
        past = self.here.platform.clock.now().timestamp() / FAR_SECONDS
        await self.context.session.report_progress(after + past, message="waiting")

    async def _ask(self, turn: Accepted | TurnShown, event: Numbered) -> Result | None:
        """Ask what the turn asks now, unless this request has; return the result that ends the request, if one does."""
        if not isinstance(event.event, ApprovalRequested | ClarificationRequested | ApprovalClosed):
            return None
        status = await self.turns.status(turn.turn_id)
        question = status.question
        if question is None:
            return None
        if (key := question.name) in self.asked:
            # An answer did not fit: the form is gone, and the question is open.
            stale = isinstance(event.event, ApprovalClosed) and event.event.outcome == STALE
            return waiting(status.turn, question) if stale and event.seq > self.asked[key] else None
        self.asked[key] = await self._last(status.turn)
        if not self.elicits or not questions.is_asked(question.asked):
            return waiting(status.turn, question)
        if self.stream is not None:
            self.form = await self.stream.ask(turn.turn_id, question)
            return None
        form = questions.form(question.asked, self.context.protocol_version)
        state = RequestState(turn_id=turn.turn_id, asked=key)
        return InputRequiredResult(
            input_requests={QUESTION: ElicitRequest(params=form)}, request_state=state.model_dump_json()
        )

    async def _last(self, turn: TurnShown) -> int:
        """Return the number of a turn's last event."""
        return (await self.turns.events(turn))[-1].seq

    async def _left(self, turn: Accepted | TurnShown, why: End) -> Result:
        if why is End.LEAVING and self.stream is not None:
            await self.stream.leave()
        about = {"session_id": turn.session_id, "turn_id": turn.turn_id, "state": "running"}
        text = f"{why.value}. The turn goes on; call {FOLLOW} with turn_id {turn.turn_id}."
        return CallToolResult(content=[TextContent(text=text)], structured_content=about, is_error=True)

    @asynccontextmanager
    async def _cancelling(self) -> AsyncIterator[None]:
        """Cancel the followed turn with its request, where the protocol says so."""
        try:
            yield
        except anyio.get_cancelled_exc_class():
            if self.stream is None and not self.here.concurrency.closed:
                with anyio.CancelScope(shield=True), anyio.move_on_after(CANCEL_SECONDS):
                    await cancel(self.turns, self.following, "the MCP client closed the call")
            raise


def dismissal(form: str) -> str:
    """Return the key of the receipt that says that a client has dismissed a form."""
    return f"mcp-dismissed-{digest(form, None)}"


async def answer(turns: TurnClient, turn_id: str, question: Question, said: ElicitResult) -> bool:
    """Pass a person's answer on to the turn that asked; return whether there was one."""
    asked = question.asked
    if isinstance(asked, ApprovalRequested):
        decision = questions.answer_of(asked, said)
        if decision is not None:
            await turns.decide(asked.approval_id, decision)
        return decision is not None
    text = questions.reply_of(said)
    if text is not None:
        await turns.reply(turn_id, text, key=f"mcp-{question.name}")
    elif said.action == "decline":
        await cancel(turns, turn_id, "the user declined to answer")
    return text is not None or said.action == "decline"


async def cancel(turns: TurnClient, turn_id: str, reason: str) -> None:
    """Cancel a turn, unless it has ended."""
    if not (await turns.turn(turn_id)).ended_at:
        await turns.cancel(turn_id, reason=reason)


def ended(turn: TurnShown, last: StepChanged | None, made: Sequence[JobAsset] = ()) -> CallToolResult:
    """Return the result of a turn that has ended; `last` is the last change of one of its steps, `made` its pictures
    and documents.
    """
    done = turn.state == "completed"
    text = turn.answer or literal(" ".join(part for part in (turn.state, turn.reason, turn.detail) if part))
    content: list[ContentBlock] = [TextContent(text=text)]
    data = last.data if last is not None else None
    if data is not None:
        content.append(TextContent(text=orjson.dumps(data).decode()))
    elif last is not None and last.result is not None:
        content.append(_link(last.result))
    content += [
        ResourceLink(name=one.title, uri=f"suma://multimodal/assets/{one.asset_id}", mime_type=one.media_type)
        for one in made
    ]
    failed = data is None and last is not None and last.state in (StepState.FAILED, StepState.DENIED)
    shown = {**_shown(turn), **({"data": data} if data is not None else {})}
    return CallToolResult(content=content, structured_content=shown, is_error=not done or failed)


def waiting(turn: TurnShown, question: Question) -> CallToolResult:
    """Return the result of a turn that waits for a person whom this client cannot ask."""
    asked, text = question.asked, questions.text_of(question.asked)
    if isinstance(asked, ClarificationRequested):
        how = f"Answer with {RUN}, session_id {turn.session_id}, and the answer as text."
        shown: dict[str, Any] = {"kind": "clarification", "text": text}
    else:
        how = (
            "A person answers it in Suma's web page, or with `suma approve`; "
            f"then call {FOLLOW} with turn_id {turn.turn_id}."
        )
        shown = {"kind": asked.kind, "text": text, "approval_id": asked.approval_id, "digest": asked.digest}
    content: list[ContentBlock] = [TextContent(text=f"{text}\n\n{how}")]
    return CallToolResult(content=content, structured_content={**_shown(turn), "question": shown})


def _shown(turn: TurnShown) -> dict[str, Any]:
    about = {"session_id": turn.session_id, "turn_id": turn.turn_id, "state": turn.state}
    return {**about, "answer": turn.answer, "reason": turn.reason, "detail": turn.detail}


def _link(asset: Asset) -> ResourceLink:
    return ResourceLink(
        name=asset.filename, uri=f"suma://assets/{asset.asset_id}", mime_type=asset.media_type, size=asset.size
    )


def _named(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a task. Raises Rejected for an unknown one."""
    known = ("text", SESSION, ROOT, "skill", "agent", "hitl", "attachments")
    if unknown := sorted(set(args) - set(known)):
        raise Rejected(f"unknown arguments: {', '.join(unknown)}")
    if "text" not in args:
        raise Rejected("text is missing: the task in words")
    return {name: value for name, value in args.items() if value is not None}


def _one(args: Mapping[str, Any], name: str) -> str:
    value = args.get(name)
    if not isinstance(value, str):
        raise Rejected(f"{name} is missing")
    return value
