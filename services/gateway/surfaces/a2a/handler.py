"""The operations of A2A 1.0 over the gateway's turns. The SDK's dispatchers call it for both bindings."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from typing import Any

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
    TaskPushNotificationConfig,
)
from a2a.utils.errors import (
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from typing_extensions import override

from services.gateway.identity import access
from services.gateway.identity.reading import SESSIONS
from services.gateway.sessions.models import Accepted
from services.gateway.sessions.routes import TurnOver
from services.gateway.sessions.store import Numbered
from services.gateway.surfaces.a2a.inbox import Inbox
from services.gateway.surfaces.a2a.reader import TaskReader, Update
from services.gateway.surfaces.a2a.request import Call, Sent
from services.gateway.surfaces.a2a.store import Place, Search, TaskStore, TaskTurn
from services.gateway.surfaces.a2a.tasks import Facts, task_of, turn_states
from services.gateway.surfaces.a2a.webhooks import TaskWebhooks
from services.gateway.surfaces.context import Gateway
from services.gateway.surfaces.segments import ends, left, until_the_end
from services.gateway.surfaces.turns import Question

PAGE, PAGE_MOST = 50, 100


class Tasks(RequestHandler):
    """The tasks of each caller: its own, and those of sessions that are shared with it."""

    def __init__(self, here: Gateway) -> None:
        self._here, self._store = here, TaskStore(here.platform.database)
        self._tasks, self._webhooks = TaskReader(self._store), TaskWebhooks(here, self._store)
        self._inbox = Inbox(here, self._store)

    @override
    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task:
        """Send a message; unless it is to return immediately, wait until the task ends or asks."""
        call = Call(self._here, context, params)
        with call.refusing():
            waits, history = not params.configuration.return_immediately, _history_of(params.configuration)
            if waits:
                # Before the message is taken: a task that nobody can wait for must not begin.
                self._here.streams.check_capacity(call.who.tenant)
            sent = await self._sent(call, params)
            facts = await self._settled(call, sent) if waits else (await self._tasks.now(call, sent)).facts
            return task_of(facts, base=call.base, history=history)

    @override
    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Update]:
        """Send a message, and stream the task until it ends or asks."""
        call = Call(self._here, context, params)
        with call.refusing():
            self._here.streams.check_capacity(call.who.tenant)
            sent, history = await self._sent(call, params), _history_of(params.configuration)
            updates = await (self._tasks.answered if sent.continues else self._tasks.begun)(call, sent, history)
            async with aclosing(updates):
                async for update in updates:
                    yield update

    @override
    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Update]:
        """Stream an open task from its present state until it ends or asks again."""
        call = Call(self._here, context, params)
        with call.refusing():
            turn = await call.turns.turn(params.id)
            if turn.ended_at is not None:
                raise UnsupportedOperationError(f"the task is {turn.state}; get it instead")
            self._here.streams.check_capacity(call.who.tenant)
            async with aclosing(await self._tasks.subscribed(call, Sent(turn.turn_id))) as updates:
                async for update in updates:
                    yield update

    @override
    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task:
        """Return a task."""
        call = Call(self._here, context, params)
        with call.refusing():
            facts = (await self._tasks.now(call, Sent(params.id))).facts
            return task_of(facts, base=call.base, history=_history_of(params))

    @override
    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task:
        """Cancel a task, and return its state two seconds later at most."""
        call = Call(self._here, context, params)
        with call.refusing():
            try:
                await call.turns.cancel(params.id)
            except TurnOver as over:
                raise TaskNotCancelableError(str(over)) from None
            return task_of((await self._tasks.now(call, Sent(params.id))).facts, base=call.base, history=None)

    @override
    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """List the caller's tasks, the last changed first."""
        call = Call(self._here, context, params)
        size, history = _size(params), _history_of(params)
        with call.refusing():
            await self._here.identity.reads.check(call.who, SESSIONS)
            search = await self._search(call, params)
            place = _place(params.page_token) if params.page_token else None
            found = await self._store.page(call.who.tenant, search, after=place, most=size + 1)
            shown, tenant = found[:size], call.who.tenant
            turns = [turn.turn_id for turn, _ in shown]
            files = await self._store.files(tenant, turns) if params.include_artifacts else ()
            exchange = await self._store.exchange(tenant, turns) if history != 0 else ()
            tasks = [
                task_of(
                    Facts(turn, at, await _question(call, turn), files, exchange),
                    base=call.base,
                    history=history,
                    artifacts=params.include_artifacts,
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
        """Tell a webhook of a task's updates from now on."""
        call = Call(self._here, context, params)
        with call.refusing():
            await self._webhooks.check(call, params)
            sent = Sent(params.task_id)
            now = await self._tasks.now(call, sent)
            return await self._webhooks.add(call, now.place, params)

    @override
    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Return one of the caller's webhooks of a task."""
        call = Call(self._here, context, params)
        with call.refusing():
            found = await self._webhooks.of(call, params.task_id)
            for config in found:
                if config.id == params.id:
                    return config
            raise TaskNotFoundError("the task has no such webhook of yours")

    @override
    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        """Return the caller's webhooks of a task: ten at most, so one page."""
        call = Call(self._here, context, params)
        with call.refusing():
            return ListTaskPushNotificationConfigsResponse(configs=await self._webhooks.of(call, params.task_id))

    @override
    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        """Delete one of the caller's webhooks of a task. Safe to repeat."""
        call = Call(self._here, context, params)
        with call.refusing():
            await self._webhooks.drop(call, params.task_id, params.id)

    async def _sent(self, call: Call, params: SendMessageRequest) -> Sent:
        """Pass a message on; add the webhook that it names."""
        wanted = params.configuration
        if not wanted.HasField("task_push_notification_config"):
            return await self._inbox.take(call, params)
        # Before the message: a webhook that is refused must not leave a task behind.
        await self._webhooks.check(call, wanted.task_push_notification_config)
        sent = await self._inbox.take(call, params)
        place = sent.accepted or (await self._tasks.now(call, sent)).place
        await self._webhooks.add(call, place, wanted.task_push_notification_config)
        return sent

    async def _search(self, call: Call, params: ListTasksRequest) -> Search:
        context, since = params.context_id, params.status_timestamp_after
        return Search(
            call.who.id,
            access.reader(call.who),
            (await self._inbox.context(call, context)).session_id if context else None,
            turn_states(params.status),
            since.ToDatetime(UTC) if params.HasField("status_timestamp_after") else None,
        )

    async def _settled(self, call: Call, sent: Sent) -> Facts:
        """Wait until the task ends or asks, as long as the client waits too; return its state.

        Raises:
            Stopping: this server stops before that; the repeated message finds its task.
            AccessChanged: the caller may not see the task any more.
        """
        # The task may take long: a waiting call counts as a stream, not as a running request.
        call.request.state.release()
        until = asyncio.get_running_loop().time() + self._here.settings.a2a_wait_seconds
        # A new task is followed from where it began, without a read.
        place = sent.accepted
        while place is None or await _moves(call, place, until):
            now = await self._tasks.now(call, sent)
            if now.pauses:
                return now.facts
            place = now.place
        return (await self._tasks.now(call, sent)).facts


async def _question(call: Call, turn: TaskTurn) -> Question | None:
    """Return what a turn asks; few of a list's turns ask anything."""
    return (await call.turns.status(turn.turn_id)).question if turn.state.startswith("awaiting") else None


async def _moves(call: Call, place: Accepted, until: float) -> bool:
    """Wait for the task's next question or its end; return False if the time or the client is gone before."""
    with suppress(TimeoutError):
        async with asyncio.timeout_at(until), aclosing(until_the_end(call.turns, place, after=place.after)) as items:
            async for item in items:
                if isinstance(item, Numbered) and ends(item):
                    return True
                if await left(call.request, item):
                    return False
            return True
    return False


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


def _token(at: datetime, turn: str) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([at, turn])).decode()


def _place(token: str) -> Place:
    """Return the place in the list that a token names. Raises InvalidParamsError."""
    try:
        at, turn = orjson.loads(base64.urlsafe_b64decode(token))
        return Place(datetime.fromisoformat(at), str(turn))
    except (ValueError, TypeError):
        raise InvalidParamsError("this pageToken is unknown; start again without one") from None
