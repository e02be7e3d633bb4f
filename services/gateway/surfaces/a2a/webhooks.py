"""A task's webhooks, as its client adds, reads and deletes them: each principal its own, since they hold secrets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from a2a.types.a2a_pb2 import AuthenticationInfo, TaskPushNotificationConfig
from a2a.utils.errors import InvalidParamsError, PushNotificationNotSupportedError

from libs import ids
from libs.changes import Changeset
from libs.guards import UrlRefused
from libs.identity.roles import SESSIONS_READ
from services.gateway.http import commands
from services.gateway.sessions.models import Accepted
from services.gateway.surfaces.a2a.card import VERSION
from services.gateway.surfaces.a2a.request import Call
from services.gateway.surfaces.a2a.rows import PushConfig, WebhookDropped
from services.gateway.surfaces.a2a.store import TaskStore
from services.gateway.surfaces.context import Gateway

CONFIGS_MOST = 10
"""Webhooks of one principal for one task."""
VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?|")
"""The permitted characters of a header (RFC 9110, 5.5)."""
SCHEME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{0,100}")
ID = re.compile(r"[\x21-\x7e]{0,200}")


class TaskWebhooks:
    def __init__(self, here: Gateway, store: TaskStore) -> None:
        self._here, self._store = here, store

    async def check(self, call: Call, asked: TaskPushNotificationConfig) -> str:
        """Return the webhook's host.

        Raises:
            InvalidParamsError: it may not be called, or a value is no header.
            PushNotificationNotSupportedError: the client speaks 0.3, and notifications are those of 1.0.
        """
        if call.version != VERSION:
            raise PushNotificationNotSupportedError(f"notifications are those of A2A {VERSION}; poll the task")
        auth = asked.authentication
        if not (VALUE.fullmatch(asked.token) and VALUE.fullmatch(auth.credentials) and SCHEME.fullmatch(auth.scheme)):
            raise InvalidParamsError("token, scheme and credentials are header values of at most 4096 characters")
        if not ID.fullmatch(asked.id):
            raise InvalidParamsError("the id has at most 200 printable characters without spaces")
        try:
            return await self._here.webhooks.check(asked.url)
        except UrlRefused as refused:
            raise InvalidParamsError(f"the webhook may not be called: {refused}", {"code": refused.rule}) from None

    async def add(self, call: Call, place: Accepted, asked: TaskPushNotificationConfig) -> TaskPushNotificationConfig:
        """Tell a webhook of what follows a place in the task's events. One with the same id is replaced."""
        who, host = call.who, await self.check(call, asked)
        await self._here.writable(who, place.session_id)
        # Without an id the address is its name, so that a repeated request adds no second one.
        name = asked.id or ids.derived(place.turn_id, asked.url)
        known = await self._store.push_configs(who.tenant, who.id, place.turn_id)
        if len(known) >= CONFIGS_MOST and name not in [config.config_id for config in known]:
            raise InvalidParamsError(f"a task has at most {CONFIGS_MOST} webhooks; delete one")
        config = PushConfig(
            config_id=name,
            turn_id=place.turn_id,
            session_id=place.session_id,
            principal=who.id,
            url=asked.url,
            token=asked.token,
            scheme=asked.authentication.scheme,
            credentials=asked.authentication.credentials,
            base=call.base,
            # A new one for each change: the lease of a replaced webhook finds no row, and ends.
            delivery=ids.new(),
            # Looked at before each request: a webhook ends with the key that added it.
            credential=who.credential.partition(":")[2],
            oversees=who.may(SESSIONS_READ),
        )
        cause = commands.cause_of(who, place.session_id, place.turn_id)
        record = await commands.permitted(self._here, cause, who, "webhook.add", destination=host)
        started = self._here.webhooks.started(config, after=place.after)
        await self._here.platform.writer.apply(Changeset(cause).put(config).start(started).emit(record))
        return _shown(config)

    async def of(self, call: Call, task: str) -> Sequence[TaskPushNotificationConfig]:
        """Return the caller's webhooks of a task. Raises NotFound for a task that it does not see."""
        await call.turns.turn(task)
        return [_shown(config) for config in await self._store.push_configs(call.who.tenant, call.who.id, task)]

    async def drop(self, call: Call, task: str, config: str) -> None:
        """Delete a webhook of the caller."""
        turn = await call.turns.turn(task)
        cause = commands.cause_of(call.who, turn.session_id, task)
        gone = Changeset(cause).put(WebhookDropped(turn_id=task, config_id=config, principal=call.who.id))
        await self._here.platform.writer.apply(gone)


def _shown(config: PushConfig) -> TaskPushNotificationConfig:
    auth = AuthenticationInfo(scheme=config.scheme, credentials=config.credentials) if config.scheme else None
    return TaskPushNotificationConfig(
        id=config.config_id, task_id=config.turn_id, url=config.url, token=config.token, authentication=auth
    )
