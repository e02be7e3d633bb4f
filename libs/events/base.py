"""The base of all events: frozen, with a type and a topic. Old events load for ever."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict
from typing_extensions import override

from libs.events.topics import Topic


class Value(BaseModel):
    """Part of an event. Unknown fields are ignored, so that a newer producer does not break an older consumer."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Event(Value):
    """Base class of events. `type` and `topic` are set by `@event`."""

    type: ClassVar[str]
    topic: ClassVar[Topic]

    def json_bytes(self) -> bytes:
        """Return the data as it travels."""
        return self.model_dump_json(by_alias=True).encode()


class SparseEvent(Event):
    """An event of which fields travel only if they differ from their defaults. Those never change."""

    @override
    def json_bytes(self) -> bytes:
        return self.model_dump_json(by_alias=True, exclude_defaults=True).encode()


E = TypeVar("E", bound=type[Event])

_registry: dict[str, type[Event]] = {}
registry: Mapping[str, type[Event]] = MappingProxyType(_registry)
"""Every event class by its CloudEvents type."""


def event(type: str, topic: Topic) -> Callable[[E], E]:
    """Declare an event class: its CloudEvents type, version included, and the topic that it travels on."""

    def declare(cls: E) -> E:
        if type in _registry:
            raise ValueError(f"{type} is declared twice")
        cls.type, cls.topic = type, topic
        _registry[type] = cls
        return cls

    return declare
