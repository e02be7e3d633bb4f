"""Server-sent events (WHATWG HTML, 9.2), as far as our own server uses them: lines in, events out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Seen:
    """One event of a session: `seq` is its number there, `type` is such as `plan.proposed`."""

    seq: int
    type: str
    turn_id: str | None
    time: str
    data: Mapping[str, Any]

    @classmethod
    def of(cls, shown: Mapping[str, Any]) -> Seen:
        return cls(shown["seq"], shown["type"], shown["turn_id"], shown["time"], shown["data"])

    def json(self) -> dict[str, Any]:
        return {"seq": self.seq, "type": self.type, "turn_id": self.turn_id, "time": self.time, "data": self.data}


@dataclass(frozen=True, slots=True)
class Piece:
    """Words on their way (`delta`): they have no number. Those of another call or attempt make void what was said."""

    turn_id: str
    voice: tuple[str, int]
    text: str

    @classmethod
    def of(cls, shown: Mapping[str, Any]) -> Piece:
        return cls(shown["turn_id"], (shown["call"], shown["attempt"]), shown["text"])


@dataclass(slots=True)
class Speech:
    """What a model is saying, as far as one stream has told it. The next stream tells it again from the start."""

    voice: tuple[str, str, int] | None = None
    text: str = ""

    def hear(self, piece: Piece) -> str:
        """All that was said by now."""
        voice = piece.turn_id, *piece.voice
        if voice != self.voice:
            self.voice, self.text = voice, ""
        self.text += piece.text
        return self.text


@dataclass(slots=True)
class _Lines:
    """The fields of the event that is being read."""

    id: str = ""
    event: str = ""
    data: list[str] = field(default_factory=list)

    def done(self) -> Seen | Piece | None:
        kind = Seen if self.id else Piece if self.event == "delta" else None
        return kind.of(json.loads("\n".join(self.data))) if kind is not None and self.data else None


def read(lines: Iterable[str]) -> Iterator[Seen | Piece]:
    """The events of a stream; one that was cut off is none."""
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
