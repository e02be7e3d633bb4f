"""Another agent, over A2A 1.0: its card is its listing, and its one tool sends it a message.

Each call fetches the card and compares it with the approved one, then sends the message over the card's own address,
which must be on the server that the settings name. The message's id is the intent's, so an agent that recognises
repeated messages acts once. The agent receives nothing but the arguments.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from libs.clients.outside import TooLarge, outside
from libs.errors import SumaError
from libs.remote_tools.ports import (
    ERROR_MOST,
    AnswerLost,
    Listed,
    ServerDown,
    ServerRefused,
    ToolReportedError,
    Unchanged,
    one_line,
)
from libs.remote_tools.settings import RemoteServer
from libs.resilience import GuardedCall
from libs.tools import Intent, Outcome

if TYPE_CHECKING:
    from a2a.client import Client
    from a2a.types.a2a_pb2 import AgentCard, Task

SEND = "send"
"""The name of the tool."""
ANSWER_BYTES_MOST = 4 << 20
"""Bytes of one HTTP response."""
TEXT_MOST = 64 * 1024
"""Characters of an answer's text."""
DESCRIPTION_MOST = 3_500
SKILLS_MOST = 20
POLL_SECONDS = (0.5, 5.0)
"""First and longest pause between two looks at a task that the agent still works on."""
TEXT_FIELD = {"type": "string", "minLength": 1, "maxLength": 100_000}
ID_FIELD = {"type": "string", "maxLength": 200}
PARAMETERS = {
    "type": "object",
    "properties": {
        "text": {**TEXT_FIELD, "description": "The message"},
        "task": {**ID_FIELD, "description": "The task that the message continues, if it asked for input"},
        "context": {**ID_FIELD, "description": "The conversation that the message belongs to"},
    },
    "required": ["text"],
    "additionalProperties": False,
}
RETURNS = {"properties": {name: {"type": "string"} for name in ("text", "state", "task", "context")}}
UNANSWERED = (408, 425, 429)
"""Statuses below 500 that may change by themselves."""


@dataclass
class A2aAgent:
    """An agent as a server of tools."""

    name: str
    settings: RemoteServer
    guard: GuardedCall
    protocol: str = field(default="a2a", init=False)

    async def tools(self) -> Sequence[Listed]:
        async with self.guard.call_scope(math.inf), self._session() as session:
            return [_listed(await session.card())]

    async def call(self, tool: str, intent: Intent, *, unchanged: Unchanged) -> Outcome:
        async with self.guard.call_scope(math.inf), self._session() as session:
            card = await session.card()
            unchanged([_listed(card)])
            if not intent.valid():
                raise ServerDown("another process has taken this call")
            return _outcome(self.name, await session.send(card, intent))

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[AgentConnection]:
        """Yield a connection. Its errors say whether something may have happened."""
        # Imported here, in a thread: the SDK takes half a second to load, and most installations call no agent.
        await asyncio.to_thread(_load)
        headers = await asyncio.to_thread(self._headers)
        client = outside(private=self.settings.private, seconds=self.settings.call_seconds, most=ANSWER_BYTES_MOST)
        async with client as http:
            http.headers.update(headers)
            yield AgentConnection(self.settings, http)

    def _headers(self) -> dict[str, str]:
        try:
            return self.settings.secret_headers()
        except OSError as error:
            raise ServerDown(f"the token's file cannot be read: {error.strerror}") from None


@dataclass
class AgentConnection:
    """A connection to an agent. `called` becomes true before the message is sent."""

    settings: RemoteServer
    http: Any
    called: bool = False

    async def card(self) -> AgentCard:
        """Return the agent's card. Raises ServerDown and ServerRefused."""
        from a2a.client import A2ACardResolver

        async with self._translated(self.settings.connect_seconds):
            return await A2ACardResolver(self.http, self.settings.url).get_agent_card()

    async def send(self, card: AgentCard, intent: Intent) -> Task:
        """Send the message, and return its task once it ends or asks.

        Raises:
            ServerRefused: the agent refused the message.
            AnswerLost: it may have acted.
        """
        client, asked = _client(card, self.settings, self.http), _request(intent)
        async with self._translated(self.settings.call_seconds):
            self.called = True
            async for answer in client.send_message(asked):
                return await self._settled(client, answer)
        raise AnswerLost("the agent answered nothing")

    async def _settled(self, client: Client, answer: Any) -> Task:
        """Return the task of an answer, read again while the agent works on it."""
        from a2a.types.a2a_pb2 import GetTaskRequest, Task, TaskState, TaskStatus

        if answer.HasField("message"):
            said = answer.message
            done = TaskStatus(state=TaskState.TASK_STATE_COMPLETED, message=said)
            return Task(id=said.task_id, context_id=said.context_id, status=done)
        task: Task = answer.task
        pause = POLL_SECONDS[0]
        while task.status.state in (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING):
            await asyncio.sleep(pause)
            pause = min(2 * pause, POLL_SECONDS[1])
            task = await client.get_task(GetTaskRequest(id=task.id))
        return task

    @asynccontextmanager
    async def _translated(self, seconds: float) -> AsyncIterator[None]:
        """Raise the errors of the connection and the protocol as what they mean for the effect."""
        from a2a.client.errors import A2AClientError
        from a2a.utils.errors import A2AError, InternalError, InvalidAgentResponseError

        try:
            async with asyncio.timeout(seconds):
                yield
        except (InternalError, InvalidAgentResponseError) as error:
            raise self._failure(error, None) from None
        except (A2AClientError, TooLarge, TimeoutError) as error:
            raise self._failure(error, error.__cause__) from None
        except A2AError as error:
            raise ServerRefused(one_line(error)) from None

    def _failure(self, error: Exception, cause: BaseException | None) -> SumaError:
        status = getattr(getattr(cause, "response", None), "status_code", None)
        if status in (401, 403):
            return ServerRefused(f"the agent refuses our credentials (HTTP {status})")
        if isinstance(status, int) and 300 <= status < 500 and status not in UNANSWERED:
            return ServerRefused(f"the agent refuses the request (HTTP {status})")
        # A connection that was never made carried no message.
        if self.called and status != 429 and type(cause).__name__ not in ("ConnectError", "ConnectTimeout"):
            return AnswerLost(one_line(error))
        return ServerDown(one_line(error))


def _load() -> None:
    """Import what the functions of this module import when they are called."""
    for name in ("a2a.client", "a2a.utils.errors", "google.protobuf.json_format"):
        import_module(name)


def _client(card: AgentCard, settings: RemoteServer, http: Any) -> Client:
    """Return a client for the card's addresses on the configured server. Raises ServerRefused if there is none."""
    from a2a.client import ClientConfig, ClientFactory
    from a2a.types.a2a_pb2 import AgentCard as Card

    ours = Card()
    ours.CopyFrom(card)
    del ours.supported_interfaces[:]
    ours.supported_interfaces.extend(
        each for each in card.supported_interfaces if _origin(each.url) == settings.address
    )
    config = ClientConfig(httpx_client=http, streaming=False, supported_protocol_bindings=["JSONRPC", "HTTP+JSON"])
    try:
        return ClientFactory(config).create(ours)
    except ValueError:
        raise ServerRefused(f"the agent's card names no address on {settings.address} that speaks A2A 1.0") from None


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _request(intent: Intent) -> Any:
    from a2a.types.a2a_pb2 import Message, Part, Role, SendMessageRequest

    args = intent.args
    message = Message(
        message_id=intent.id,
        role=Role.ROLE_USER,
        parts=[Part(text=args["text"], media_type="text/plain")],
        task_id=args.get("task", ""),
        context_id=args.get("context", ""),
    )
    return SendMessageRequest(message=message)


def _listed(card: AgentCard) -> Listed:
    """Return the tool that sends a message. The whole card without its signatures counts as its description."""
    from google.protobuf.json_format import MessageToDict

    whole = MessageToDict(card)
    whole.pop("signatures", None)
    skills = "; ".join(f"{skill.name}: {skill.description}" for skill in card.skills[:SKILLS_MOST])
    described = f"Send a message to the agent {card.name}. {card.description} It can: {skills}"
    digest = hashlib.sha256(orjson.dumps(whole, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return Listed(
        name=SEND,
        description=described[:DESCRIPTION_MOST],
        parameters=PARAMETERS,
        returns=RETURNS,
        hints={"card": digest},
        title=card.name,
    )


def _outcome(agent: str, task: Task) -> Outcome:
    """Return an answer as data that says where it comes from. Raises ToolReportedError if the agent did not do it."""
    from a2a.types.a2a_pb2 import TaskState

    state = TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()
    said = _text(task.status.message.parts)
    if state in ("failed", "rejected", "canceled"):
        reason = " ".join(said.split())[:ERROR_MOST]
        raise ToolReportedError(f"{agent} ended the task as {state}: {reason}" if reason else f"{agent}: {state}")
    text = "\n\n".join(part for part in (*(_text(each.parts) for each in task.artifacts), said) if part)
    files = [part.url for each in task.artifacts for part in each.parts if part.url][:SKILLS_MOST]
    data: dict[str, Any] = {
        "text": text[:TEXT_MOST],
        "state": state,
        "task": task.id,
        "context": task.context_id,
        "untrusted": f"said by the agent {agent}",
    }
    if files:
        data["files"] = files
    if len(text) > TEXT_MOST:
        data["left_out"] = [f"{len(text) - TEXT_MOST} characters of text"]
    return Outcome(data, f"{agent} answered." if state == "completed" else f"{agent} asks for input.")


def _text(parts: Sequence[Any]) -> str:
    return "\n".join(part.text for part in parts if part.text)
