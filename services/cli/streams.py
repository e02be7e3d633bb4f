"""A parser of server-sent events (WHATWG HTML, 9.2), limited to the fields that Suma sends."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """An event of a session: `seq` is its number there, `type` its name such as `plan.proposed`."""

    seq: int
    type: str
    turn_id: str | None
    time: str
    data: Mapping[str, Any]

    @classmethod
    def of(cls, shown: Mapping[str, Any]) -> SessionEvent:
        return cls(shown["seq"], shown["type"], shown["turn_id"], shown["time"], shown["data"])

    def json(self) -> dict[str, Any]:
        return {"seq": self.seq, "type": self.type, "turn_id": self.turn_id, "time": self.time, "data": self.data}


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A part of an answer, or of a command's output (`delta`), without a number. A new call or attempt invalidates the
    text before it.
    """

    turn_id: str
    attempt: tuple[str, int]
    text: str
    step_id: str | None = None
    """The step whose command wrote this; None for an answer."""

    @classmethod
    def of(cls, shown: Mapping[str, Any]) -> TextDelta:
        return cls(shown["turn_id"], (shown["call"], shown["attempt"]), shown["text"], shown.get("step_id"))


@dataclass(slots=True)
class PartialText:
    """The answer or output received so far on one stream. A new stream sends it again from the start."""

    attempt: tuple[str, str, int] | None = None
    text: str = ""

    def append(self, piece: TextDelta) -> str:
        """Add a delta and return the text so far."""
        attempt = piece.turn_id, *piece.attempt
        if attempt != self.attempt:
            self.attempt, self.text = attempt, ""
        self.text += piece.text
        return self.text


@dataclass(slots=True)
class _Lines:
    """The fields of the event being parsed."""

    id: str = ""
    event: str = ""
    data: list[str] = field(default_factory=list)

    def done(self) -> SessionEvent | TextDelta | None:
        kind = SessionEvent if self.id else TextDelta if self.event == "delta" else None
        return kind.of(json.loads("\n".join(self.data))) if kind is not None and self.data else None


def read(lines: Iterable[str]) -> Iterator[SessionEvent | TextDelta]:
    """Yield the complete events of a stream; an incomplete last one is ignored."""
    now = _Lines()
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            now.id = value
        elif name == "event":
            now.event = value
        elif name == "data":
            now.data.append(value)
        elif not line:
            if (item := now.done()) is not None:
                yield item
            now = _Lines()
