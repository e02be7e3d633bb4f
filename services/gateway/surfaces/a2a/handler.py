"""The operations of A2A 1.0 over the gateway's turns. The SDK's dispatchers call it for both bindings."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeAlias

import orjson
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskPushNotificationConfig,
    TaskStatusUpdateEvent,
)
from a2a.utils.errors import (
    InternalError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    UnsupportedOperationError,
)
from a2a.utils.proto_utils import validate_proto_required_fields
from google.protobuf.message import Message as ProtoMessage
from pydantic import ValidationError
from starlette.requests import Request
from typing_extensions import override

from libs.errors import SumaError
from libs.identity import Principal
from services.gateway.api.context import Gateway, NoSuchSession
from services.gateway.api.models import Accepted, ApprovalShown, TurnShown
from services.gateway.api.security import READING, require
from services.gateway.api.sessions import TurnOver
from services.gateway.domain import access
from services.gateway.domain.urls import base
from services.gateway.sse.viewer import TextDelta
from services.gateway.store import Numbered
from services.gateway.surfaces.a2a.errors import counterpart
from services.gateway.surfaces.a2a.messages import Said, answer_to, said
from services.gateway.surfaces.a2a.store import Place, Search, TaskStore
from services.gateway.surfaces.a2a.tasks import PARTIAL_TEXT, Facts, Updates, pauses, task_of, turn_states
from services.gateway.surfaces.turns import TurnClient

PAGE, PAGE_MOST = 50, 100
LOOK_SECONDS = 10.0
"""Seconds after which a blocking request checks whether its client is still there."""
REFUSED = "a2a_refused"
"""Where a request's state holds the error that HTTP itself expresses."""

Update: TypeAlias = Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent


@dataclass(frozen=True, slots=True)
class Sent:
    """A message's task. Its events follow `accepted`; `asked_at` is the time of the question that the message answers,
    whose state the task keeps until the answer arrives.
    """

    accepted: Accepted
    asked_at: datetime | None = None


class Call:
    """One request: its caller, and what it addresses."""

    def __init__(self, here: Gateway, context: ServerCallContext, params: ProtoMessage) -> None:
        self.request: Request = context.state["request"]
        self.who: Principal = self.request.state.caller
        self.turns = TurnClient(here, self.who, self.request)
        self.base = base(self.request.url.scheme, self.request.headers["host"], here.settings.public_url)
        self.extensions = context.requested_extensions
        if getattr(params, "tenant", "") not in ("", self.who.tenant):
            raise InvalidParamsError("the tenant is that of your credentials; leave it out")
        validate_proto_required_fields(params)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Raise our errors as the protocol's; leave those that HTTP itself expresses to the server."""
        try:
            yield
        except (SumaError, ValidationError) as error:
            found = counterpart(error)
            if found is not None:
                raise found from None
            setattr(self.request.state, REFUSED, error)
            raise InternalError from None


class Tasks(RequestHandler):
    """The tasks of each caller: its own, and those of sessions that are shared with it."""

    def __init__(self, here: Gateway) -> None:
        self._here, self._store = here, TaskStore(here.platform.database)

    @override
    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task:
        """Send a message; unless it is to return immediately, wait until the task ends or asks."""
        call = Call(self._here, context, params)
        with call.refusing():
            sent = await self._sent(call, params)
            if not params.configuration.return_immediately:
                await self._settled(call, sent)
            history = _history_of(params.configuration)
            return await self._task(call, sent.accepted.turn_id, history, asked_at=sent.asked_at)

    @override
    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Update]:
        """Send a message, and stream the task until it ends or asks."""
        call = Call(self._here, context, params)
        with call.refusing():
            self._here.streams.check_capacity(call.who.tenant)
            sent = await self._sent(call, params)
            async with aclosing(self._followed(call, sent, _history_of(params.configuration))) as updates:
                async for update in updates:
                    yield update

    @override
    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Update]:
        """Stream an open task from where it stands, until it ends or asks again."""
        call = Call(self._here, context, params)
        with call.refusing():
            turn = await call.turns.turn(params.id)
            if turn.ended_at is not None:
                raise UnsupportedOperationError(f"the task is {turn.state}; get it instead")
            session = await self._here.readable(call.who, turn.session_id)
            place = _place_in(turn, session.last_seq)
            async with aclosing(self._followed(call, Sent(place), None)) as updates:
                async for update in updates:
                    yield update

    @override
    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task:
        """Return a task."""
        call = Call(self._here, context, params)
        with call.refusing():
            return await self._task(call, params.id, _history_of(params))

    @override
    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task:
        """Cancel a task, and return it as it stands two seconds later at most."""
        call = Call(self._here, context, params)
        with call.refusing():
            try:
                await call.turns.cancel(params.id)
            except TurnOver as over:
                raise TaskNotCancelableError(str(over)) from None
            return await self._task(call, params.id, None)

    @override
    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """List the caller's tasks, the last changed first."""
        call = Call(self._here, context, params)
        size, history = _size(params), _history_of(params)
        with call.refusing():
            require(call.who, READING)
            search = _search(call.who, params)
            place = _place(params.page_token) if params.page_token else None
            found = await self._store.page(call.who.tenant, search, after=place, most=size + 1)
            shown, tenant = found[:size], call.who.tenant
            files = (
                await self._store.files(tenant, [turn.turn_id for turn, _ in shown]) if params.include_artifacts else ()
            )
            tasks = [
                task_of(
                    Facts(turn, at, files=files), base=call.base, history=history, artifacts=params.include_artifacts
                )
                for turn, at in shown
            ]
            return ListTasksResponse(
                tasks=tasks,
                next_page_token=_token(shown[-1][1], shown[-1][0].turn_id) if len(found) > size else "",
                page_size=size,
                total_size=await self._store.count(tenant, search),
            )

    @override
    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        """Refuse: the public card is complete."""
        raise UnsupportedOperationError("the public card is complete")

    @override
    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Refuse push notifications."""
        _no_push()

    @override
    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Refuse push notifications."""
        _no_push()

    @override
    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        """Refuse push notifications."""
        _no_push()

    @override
    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        """Refuse push notifications."""
        _no_push()

    async def _sent(self, call: Call, params: SendMessageRequest) -> Sent:
        """Start a turn, or answer what the named one asks. The turn's events follow from the result."""
        message = said(params.message)
        if params.message.task_id:
            return await self._answered(call, params.message.task_id, params.message.context_id, message)
        options: dict[str, Any] = dict(message.options)
        try:
            return Sent(
                await call.turns.start(
                    _text(message), session_id=params.message.context_id or None, key=message.key, **options
                )
            )
        except NoSuchSession:
            raise InvalidParamsError("there is no such context; leave it out to begin one") from None

    async def _answered(self, call: Call, task: str, context: str, message: Said) -> Sent:
        standing = await call.turns.standing(task)
        turn = standing.turn
        if context not in ("", turn.session_id):
            raise InvalidParamsError("the task belongs to another context")
        asked_at = await self._store.status_at(call.who.tenant, task)
        if isinstance(standing.question, ApprovalShown):
            answer = answer_to(standing.question, message)
            done = await call.turns.decide(standing.question.approval_id, answer, key=message.key)
            return Sent(_place_in(turn, done.after), asked_at)
        # A repeated message gets its first answer, also if the task has gone on since.
        return Sent(await call.turns.reply(task, _text(message), key=message.key), asked_at)

    async def _settled(self, call: Call, sent: Sent) -> None:
        """Wait until the task ends or asks, as long as the client waits too."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._here.settings.a2a_wait_seconds
        while (left := until - loop.time()) > 0:
            await call.turns.settled(sent.accepted, wait=min(left, LOOK_SECONDS))
            facts = await self._facts(call, sent.accepted.turn_id)
            if facts.turn.ended_at is not None or (facts.question is not None and facts.at != sent.asked_at):
                return
            if await call.request.is_disconnected():
                return

    async def _followed(self, call: Call, sent: Sent, history: int | None) -> AsyncGenerator[Update]:
        yield await self._task(call, sent.accepted.turn_id, history, asked_at=sent.asked_at)
        turn = await call.turns.turn(sent.accepted.turn_id)
        updates, partial = Updates(turn, base=call.base), PARTIAL_TEXT in call.extensions
        async with aclosing(call.turns.follow(turn, after=sent.accepted.after)) as items:
            async for item in items:
                if isinstance(item, Numbered):
                    for update in updates.of(item):
                        yield update
                        if isinstance(update, TaskStatusUpdateEvent) and pauses(update.status.state):
                            return
                elif isinstance(item, TextDelta) and partial:
                    yield updates.piece(item)

    async def _task(self, call: Call, turn_id: str, history: int | None, *, asked_at: datetime | None = None) -> Task:
        """Return the task. A question of this time is answered, also if no worker has read the answer yet."""
        facts = await self._facts(call, turn_id)
        if facts.question is not None and facts.at == asked_at:
            facts = replace(facts, turn=facts.turn.model_copy(update={"state": "running"}), question=None)
        return task_of(facts, base=call.base, history=history)

    async def _facts(self, call: Call, turn_id: str) -> Facts:
        # The time is read first, so that a status of another time is never taken for this one.
        tenant, at = call.who.tenant, await self._store.status_at(call.who.tenant, turn_id)
        standing = await call.turns.standing(turn_id)
        return Facts(
            standing.turn,
            at or standing.turn.created_at,
            standing.question,
            await self._store.files(tenant, [turn_id]),
            await self._store.exchange(tenant, standing.turn.session_id, turn_id),
        )


def _place_in(turn: TurnShown, after: int) -> Accepted:
    return Accepted(session_id=turn.session_id, message_id="", turn_id=turn.turn_id, after=after)


def _text(message: Said) -> str:
    """Return the text of a message; a data part without words is its own text."""
    if not message.text and message.data is not None:
        return orjson.dumps(message.data, option=orjson.OPT_INDENT_2).decode()
    return message.text


def _history_of(params: Any) -> int | None:
    """Return the number of messages that the client wants; None if it did not say. Raises InvalidParamsError."""
    if not params.HasField("history_length"):
        return None
    if params.history_length < 0:
        raise InvalidParamsError("historyLength is zero or more")
    return int(params.history_length)


def _size(params: ListTasksRequest) -> int:
    size = params.page_size if params.HasField("page_size") else PAGE
    if not 1 <= size <= PAGE_MOST:
        raise InvalidParamsError(f"pageSize is 1 to {PAGE_MOST}")
    return size


def _search(who: Principal, params: ListTasksRequest) -> Search:
    since = params.status_timestamp_after
    return Search(
        access.reader(who),
        params.context_id or None,
        turn_states(params.status),
        since.ToDatetime(UTC) if params.HasField("status_timestamp_after") else None,
    )


def _token(at: datetime, turn: str) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([at, turn])).decode()


def _place(token: str) -> Place:
    """Return the place in the list that a token names. Raises InvalidParamsError."""
    try:
        at, turn = orjson.loads(base64.urlsafe_b64decode(token))
        return Place(datetime.fromisoformat(at), str(turn))
    except (ValueError, TypeError):
        raise InvalidParamsError("this pageToken is not one of ours; begin without it") from None


def _no_push() -> NoReturn:
    raise PushNotificationNotSupportedError
