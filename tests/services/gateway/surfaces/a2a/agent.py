"""An A2A agent under test: a gateway on a real socket, a simulated conversation worker, and the SDK's own clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import (
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

from libs import ids
from libs.changes import Cause, Changeset
from libs.events import (
    ApprovalClosed,
    ApprovalDecided,
    ApprovalRequested,
    ClarificationReplied,
    ClarificationRequested,
    MessageCompleted,
    MessageReceived,
    StepChanged,
    TurnCancelRequested,
    TurnEnded,
    TurnQueued,
    TurnStarted,
)
from libs.events.base import Event
from libs.events.envelope import Envelope
from libs.events.values import Asset, StepState
from libs.runtime.service import Subscription
from tests.services.gateway.running import RunningGateway

BINDINGS = ("JSONRPC", "HTTP+JSON")
DIGEST, NEXT_DIGEST = "9f2c" * 16, "7e57" * 16
"""The digests of a turn's first approval, and of a second one."""
ITEMS = ({"id": "a.txt", "path": "a.txt"}, {"id": "taxes.pdf", "path": "taxes.pdf"})
FILE = Asset(asset_id="file-1", filename="chart.png", media_type="image/png", sha256="0" * 64, size=3)


class Worker:
    """Simulate a conversation worker: a message's words say what its turn does."""

    def __init__(self) -> None:
        self.asking: dict[str, str] = {}
        """The open turn that asked, by session."""
        self.open: dict[str, ApprovalRequested] = {}
        """The open approval, by session."""
        self.queued: list[tuple[str, MessageReceived]] = []
        """The messages that wait for such a turn's end, each with its session."""
        self.decided: list[ApprovalDecided] = []
        self.twice: set[str] = set()
        """Turns that ask again as soon as they are answered."""
        self.failing: set[str] = set()
        """Turns that fail as soon as they are answered."""

    @property
    def subscriptions(self) -> Sequence[Subscription]:
        return [
            Subscription(MessageReceived, self._received),
            Subscription(ApprovalDecided, self._answered),
            Subscription(TurnCancelRequested, self._cancelled),
        ]

    def over(self, session: str) -> Sequence[Event]:
        """End the turn that asks for an approval; return the events of the messages that waited for it."""
        self.open.pop(session, None)
        found = list[Event]()
        while session not in self.open and (waiting := [each for each in self.queued if each[0] == session]):
            self.queued.remove(waiting[0])
            found += self._begun(*waiting[0])
        return found

    async def _received(self, cause: Cause, event: Envelope[MessageReceived]) -> Changeset:
        said, session = event.data, event.session or ""
        if session in self.open:
            self.queued.append((session, said))
            return Changeset(cause).emit(TurnQueued(turn_id=said.turn_id, message_id=said.message_id, position=1))
        return Changeset(cause).emit(*self._begun(session, said))

    def _begun(self, session: str, said: MessageReceived) -> Sequence[Event]:
        turn = said.turn_id
        started = TurnStarted(turn_id=turn, message_id=said.message_id, text=said.text)
        if said.answers is not None:
            replied = ClarificationReplied(turn_id=said.answers, message_id=said.message_id, text=said.text)
            if self.asking.pop(session, None) == said.answers:
                return (replied, *self._finished(said.answers, said.text))
            return (replied.model_copy(update={"instead": turn}), started, *self._finished(turn, said.text))
        if "fail" in said.text:
            self.failing.add(turn)
        if "which" in said.text:
            self.asking[session] = turn
            return started, ClarificationRequested(turn_id=turn, question="Which folder?")
        if "twice" in said.text:
            self.twice.add(turn)
        if "approve" in said.text:
            self.open[session] = _approval(turn)
            return started, self.open[session]
        if "wait" in said.text:
            return (started,)
        if "refuse" in said.text:
            return started, TurnEnded(turn_id=turn, state="refused", reason="GUARD")
        return (started, *self._finished(turn, said.text))

    async def _answered(self, cause: Cause, event: Envelope[ApprovalDecided]) -> Changeset:
        self.decided.append(event.data)
        turn = cause.turn or ""
        if "nothing" in event.data.exclude:
            stale = ApprovalClosed(
                turn_id=turn, approval_id=event.data.approval_id, outcome="stale", reason="nothing is called nothing"
            )
            return Changeset(cause).emit(stale)
        outcome = "denied" if event.data.verdict == "deny" else "approved"
        closed = ApprovalClosed(turn_id=turn, approval_id=event.data.approval_id, outcome=outcome, principal="owner")
        if turn in self.twice:
            self.twice.discard(turn)
            self.open[event.session or ""] = again = _approval(turn, "again", NEXT_DIGEST)
            return Changeset(cause).emit(closed, again)
        done = self._finished(turn, event.data.verdict)
        return Changeset(cause).emit(closed, *done, *self.over(event.session or ""))

    async def _cancelled(self, cause: Cause, event: Envelope[TurnCancelRequested]) -> Changeset:
        session, turn = event.session or "", event.data.turn_id
        asked, ended = self.open.get(session), TurnEnded(turn_id=turn, state="cancelled")
        self.queued = [each for each in self.queued if each[1].turn_id != turn]
        self.asking = {place: asked for place, asked in self.asking.items() if asked != turn}
        if asked is None or asked.turn_id != turn:
            return Changeset(cause).emit(ended)
        closed = ApprovalClosed(turn_id=turn, approval_id=asked.approval_id, outcome="cancelled")
        return Changeset(cause).emit(closed, ended, *self.over(session))

    def _finished(self, turn: str, text: str) -> Sequence[Event]:
        if turn in self.failing:
            self.failing.discard(turn)
            return (TurnEnded(turn_id=turn, state="failed", reason="TOOL_FAILED"),)
        return _finished(turn, text)


def _finished(turn: str, text: str) -> Sequence[Event]:
    step = StepChanged(
        turn_id=turn,
        plan_id="p",
        step_id="s1",
        ordinal=1,
        tool="draw.chart",
        description="Draw",
        state=StepState.SUCCEEDED,
        result=FILE.model_copy(update={"asset_id": ids.derived(turn, "file")}),
    )
    answer = MessageCompleted(turn_id=turn, message_id=ids.derived(turn), text=text.upper())
    return step, answer, TurnEnded(turn_id=turn, state="completed")


def _approval(turn: str, which: str = "approval", digest: str = DIGEST) -> ApprovalRequested:
    return ApprovalRequested(
        turn_id=turn,
        approval_id=ids.derived(turn, which),
        kind="step",
        digest=digest,
        title="Delete 2 files?",
        expires_in=60.0,
        items=ITEMS,
        args={"paths": ["a.txt", "taxes.pdf"]},
    )


@dataclass
class Agent:
    """The agent, as the clients of one tenant reach it."""

    gateway: RunningGateway
    worker: Worker
    url: str
    key: str

    @asynccontextmanager
    async def http(self, key: str | None = None, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
        """Yield a plain HTTP client that sends a key; an empty one sends none."""
        shown = self.key if key is None else key
        held = {"Authorization": f"Bearer {shown}"} if shown else {}
        async with httpx.AsyncClient(base_url=self.url, headers={**held, **headers}, timeout=30) as client:
            yield client

    @asynccontextmanager
    async def client(
        self, binding: str = "JSONRPC", key: str | None = None, *, streaming: bool = False, **headers: str
    ) -> AsyncIterator[Client]:
        """Yield the SDK's client, from the card, with one binding."""
        async with self.http(key, **headers) as http:
            card = await A2ACardResolver(http, self.url).get_agent_card()
            config = ClientConfig(
                httpx_client=http,
                supported_protocol_bindings=[binding],
                use_client_preference=True,
                streaming=streaming,
            )
            yield ClientFactory(config).create(card)

    async def stranger(self) -> str:
        """Return a key of another tenant."""
        return await replace(self.gateway, tenant=ids.new()).key("*", principal="mallory")

    async def expire(self, session: str, turn: str, approval: str = "") -> None:
        """End a turn as its worker does when nobody answers its approval, or else its clarification, and wait until
        that is seen.
        """
        ended: tuple[Event, ...]
        if approval:
            closed = ApprovalClosed(turn_id=turn, approval_id=approval, outcome="expired")
            ended = (closed, TurnEnded(turn_id=turn, state="completed"))
        else:
            self.worker.asking.pop(session)
            ended = (TurnEnded(turn_id=turn, state="failed", reason="CLARIFICATION_EXPIRED"),)
        await self.gateway.worker_says(session, *ended, *self.worker.over(session))
        await self.gateway.seen(session, lambda event: event.type == "turn.ended" and event.turn_id == turn)

    async def neighbour(self, *scopes: str) -> str:
        """Return a key of another principal of the same tenant."""
        return await self.gateway.key(*(scopes or ("chat",)), principal="eve")


def message(text: str = "", *, data: Any = None, task: str = "", context: str = "", **fields: Any) -> Message:
    """Return a message of a person."""
    parts = [Part(text=text)] if text else []
    if data is not None:
        parts.append(Part(data=ParseDict(data, Value())))
    return Message(
        message_id=fields.pop("message_id", ids.new()),
        role=Role.ROLE_USER,
        parts=parts,
        task_id=task,
        context_id=context,
        **fields,
    )


def request(sent: Message, **configuration: Any) -> SendMessageRequest:
    return SendMessageRequest(message=sent, configuration=SendMessageConfiguration(**configuration))


async def send(client: Client, sent: Message, **configuration: Any) -> Task:
    """Send a message, and return the task of the only response."""
    (answer,) = [response async for response in client.send_message(request(sent, **configuration))]
    return answer.task


async def streamed(client: Client, sent: Message) -> list[StreamResponse]:
    """Send a message, and return its stream."""
    return [response async for response in client.send_message(request(sent))]


def state_of(task: Task) -> str:

    return TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()


def answer_of(task: Task) -> str:
    """Return the text of the artifact that holds the answer."""
    (found,) = [artifact for artifact in task.artifacts if artifact.artifact_id == "answer"]
    return found.parts[0].text
