"""Gates that hang, block, crash or answer nonsense refuse, and delay nothing but their own calls."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from libs.errors import Rejected, Unavailable
from libs.hooks import Action, Gates, Hook, HookUnavailable, Point, shown_args
from libs.hooks.threads import CALLS_MOST

SECONDS = 0.2
CALL = Action(Point.TOOL_CALL, "t", "s", "turn", "ada", tools=("mail.send",), args=shown_args({"to": ["bob"]}))
Ask = Callable[[Action], Awaitable[Any]]


def gates(*asks: Ask, seconds: float = SECONDS) -> Gates:
    return Gates([Hook(Point.TOOL_CALL, ask.__name__, ask) for ask in asks], seconds=seconds)


async def refusals(*asks: Ask) -> list[str | None]:
    return [verdict.refusal for verdict in await gates(*asks, seconds=5.0 if len(asks) > 1 else SECONDS).ask(CALL)]


async def agree(action: Action) -> None:
    """Let everything pass."""


async def refuse(action: Action) -> str:
    return f"no  {action.tool}\nto {action.args['to'][0] if action.args else ''}"


async def reject(action: Action) -> None:
    raise Rejected("not today")


async def hang(action: Action) -> None:
    await asyncio.Event().wait()


async def cling(action: Action) -> None:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


async def crash(action: Action) -> None:
    raise KeyError("secret")


async def leave(action: Action) -> None:
    sys.exit(3)


async def cancel(action: Action) -> None:
    raise asyncio.CancelledError


async def nod(action: Action) -> bool:
    return True


async def write(action: Action) -> None:
    action.args["to"] = "eve"  # type: ignore[index]


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (refuse, "refuse: no mail.send to bob"),
        (reject, "reject: not today"),
        (hang, "hang: did not answer within 0.2 s"),
        (cling, "cling: did not answer within 0.2 s"),
        (crash, "crash: failed (KeyError)"),
        (leave, "leave: failed (RuntimeError)"),
        (cancel, "cancel: failed (RuntimeError)"),
        (nod, "nod: returned bool instead of a reason"),
        (write, "write: failed (TypeError)"),
    ],
)
@pytest.mark.requirement("S0-35")
async def test_gate_without_a_clear_yes_refuses(ask: Ask, reason: str) -> None:
    assert await refusals(ask) == [reason]


async def test_first_refusal_decides() -> None:
    assert await refusals(agree, refuse, crash) == [None, "refuse: no mail.send to bob"]


async def test_gate_is_asked_at_its_own_point_only() -> None:
    assert await Gates([Hook(Point.TASK_START, "refuse", refuse)]).ask(CALL) == ()


async def test_unavailable_gate_asks_for_another_try() -> None:
    async def away(action: Action) -> None:
        raise Unavailable("the directory is away")

    with pytest.raises(HookUnavailable, match="away: the directory is away"):
        await gates(away).ask(CALL)


async def test_blocking_gate_delays_neither_the_loop_nor_others() -> None:
    release = threading.Event()

    async def block(action: Action) -> None:
        release.wait(30)

    blocked = asyncio.ensure_future(gates(block, seconds=5.0).ask(CALL))
    # Only possible while the first gate blocks its own thread alone.
    assert await refusals(agree) == [None]
    assert not blocked.done()
    release.set()
    assert [verdict.refusal for verdict in await blocked] == [None]


async def test_calls_of_a_hanging_gate_are_bounded() -> None:
    release, asked = threading.Event(), gates(cling)
    first = await asyncio.gather(*(asked.ask(CALL) for _ in range(CALLS_MOST)))
    assert {verdicts[0].refusal for verdicts in first} == {"cling: did not answer within 0.2 s"}
    with pytest.raises(HookUnavailable):
        await asked.ask(CALL)
    release.set()


def test_large_args_are_not_shown() -> None:
    assert shown_args({"text": "x" * 20_000}) is None
