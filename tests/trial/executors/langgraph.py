"""LangGraph with its Postgres saver, durability "sync": a node that plans, one that makes the effect, one that answers.

After a crash a thread that has a checkpoint is resumed by invoking it with None, as the documentation of its
persistence says; one that has none never began, and its client sends it again.
"""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Any, TypedDict

import psycopg  # type: ignore[import-not-found]
import uvloop
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # type: ignore[import-not-found]
from langgraph.graph import END, START, StateGraph  # type: ignore[import-not-found]
from psycopg_pool import AsyncConnectionPool  # type: ignore[import-not-found]

from tests.trial import world
from tests.trial.wire import BEGUN, DONE, RETURNED, Wire

STATEMENTS = {"plain": world.PLAIN, "keyed": world.KEYED}


class State(TypedDict, total=False):
    turn: str
    effect: str
    seconds: float
    answer: str


def graph(wire: Wire, pool: Any, saver: Any) -> Any:
    async def plan(state: State) -> State:
        return {"effect": state["effect"]}

    async def act(state: State) -> State:
        turn = state["turn"]
        await wire.arrive(turn, BEGUN)
        async with pool.connection() as connection, psycopg.AsyncRawCursor(connection) as cursor:
            # The thread is the turn, so its id is a fair idempotency key.
            await cursor.execute(STATEMENTS[state["effect"]].encode(), (turn, turn, 1))
        await wire.arrive(turn, DONE)
        await asyncio.sleep(state["seconds"])
        wire.tell(turn, RETURNED)
        return {"answer": "It is done."}

    async def answer(state: State) -> State:
        return {"answer": state["answer"]}

    made = StateGraph(State)
    for name, node in {"plan": plan, "act": act, "reply": answer}.items():
        made.add_node(name, node)
    made.add_edge(START, "plan")
    made.add_edge("plan", "act")
    made.add_edge("act", "reply")
    made.add_edge("reply", END)
    return made.compile(checkpointer=saver)


async def _run(socket: str, name: str, dsn: str, elsewhere: str) -> None:
    pool = AsyncConnectionPool(elsewhere, min_size=4, max_size=16, open=False, kwargs={"autocommit": True})
    async with AsyncPostgresSaver.from_conn_string(dsn) as saver, pool:
        await saver.setup()
        wire = Wire(socket, name)
        made = graph(wire, pool, saver)

        async def run(turn: dict[str, Any]) -> None:
            thread = {"configurable": {"thread_id": turn["turn"]}}
            known = await made.aget_state(thread)
            if known.next or "answer" not in known.values:
                # A thread whose input alone was saved has values and nothing next: it is sent again.
                await made.ainvoke(None if known.next else turn, thread, durability="sync")
            wire.say(ended=turn["turn"], state="completed")

        wire.say(versions={name: version(name) for name in ("langgraph", "langgraph-checkpoint-postgres")})
        async with asyncio.TaskGroup() as group:
            while True:
                group.create_task(run(await wire.take()))


def main(socket: str, name: str, dsn: str, elsewhere: str) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(socket, name, dsn, elsewhere))
