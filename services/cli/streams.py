"""Server-sent events (WHATWG HTML, 9.2), as far as our own server uses them: lines in, events out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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


def numbered(lines: Iterable[str]) -> Iterator[Seen]:
    """The numbered events of a stream. Words on their way (`delta`) have no number and are left out."""
    number, data = "", list[str]()
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "id":
            number = value
        elif field == "data":
            data.append(value)
        elif not line:
            if number and data:
                yield Seen.of(json.loads("\n".join(data)))
            number, data = "", []
