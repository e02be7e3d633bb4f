"""The output of a running command, as viewers get it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from libs.cache import Delta, Stream, StreamEntry
from libs.errors import Unavailable
from services.tool_executor.live_output import SHOWN_MOST, shown_live

TURN, EMPTY = Stream("tenant", "turn"), Delta("call", 1, "", "step")


class Heard:
    """Deltas that keep what is appended; `lost` refuses it."""

    def __init__(self, *, lost: bool = False) -> None:
        self.pieces: list[Delta] = []
        self.came, self._lost = asyncio.Event(), lost

    async def append(self, stream: Stream, delta: Delta) -> None:
        assert stream == TURN
        self.pieces.append(delta)
        self.came.set()
        if self._lost:
            raise Unavailable("no store")

    async def read(self, after: Mapping[Stream, str], *, block: float) -> Mapping[Stream, Sequence[StreamEntry]]:
        raise NotImplementedError


async def test_output_is_joined_and_sent_while_the_command_runs() -> None:
    heard = Heard()
    async with shown_live(heard, TURN, EMPTY) as show:
        show("one ")
        show("two ")
        await heard.came.wait()
        show("three")
    assert heard.pieces == [Delta("call", 1, "one two ", "step"), Delta("call", 1, "three", "step")]


async def test_live_output_is_bounded() -> None:
    heard = Heard()
    async with shown_live(heard, TURN, EMPTY) as show:
        show("x" * (SHOWN_MOST - 1))
        show("yz")
    assert "".join(piece.text for piece in heard.pieces) == "x" * (SHOWN_MOST - 1) + "y"


async def test_lost_store_ends_live_output_and_not_the_command() -> None:
    heard = Heard(lost=True)
    async with shown_live(heard, TURN, EMPTY) as show:
        show("one")
        await heard.came.wait()
        show("two")
    assert [piece.text for piece in heard.pieces] == ["one"]
