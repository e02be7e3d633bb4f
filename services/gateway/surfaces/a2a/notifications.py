"""The bodies of push notifications: a task's updates, as its streams have them (specification 4.3.3)."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
from a2a.types.a2a_pb2 import TaskStatusUpdateEvent
from a2a.utils.proto_utils import to_stream_response
from google.protobuf.json_format import MessageToDict

from services.gateway.sessions.store import Numbered
from services.gateway.surfaces.a2a.store import TaskTurn
from services.gateway.surfaces.a2a.tasks import Updates


class Notifications:
    """One task's notifications, in the order of its events. `over` is true after the last one."""

    def __init__(self, turn: TaskTurn, *, base: str) -> None:
        self._updates = Updates(turn, base=base)
        self.over = False

    def of(self, event: Numbered) -> Iterator[bytes]:
        """Yield what an event changes of the task."""
        for update in self._updates.of(event):
            if isinstance(update, TaskStatusUpdateEvent):
                self.over = event.type == "turn.ended"
            yield orjson.dumps(MessageToDict(to_stream_response(update)))
