"""LangGraph with its Postgres saver, as its documentation has it: a message graph of a model and a tool node, a
checkpointer made by `from_conn_string`, `durability="sync"`.

A saver holds a lock around each of its statements, so one saver is one connection however large its pool; eight savers
are the most that an application can make of it (findings: the figures of one and of eight differ by 1.8).
"""

from __future__ import annotations

import sys
import uuid
import zlib
from contextlib import AsyncExitStack
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage  # type: ignore[import-not-found]
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # type: ignore[import-not-found]
from langgraph.graph import END, START, MessagesState, StateGraph  # type: ignore[import-not-found]

from tests.benchmarks import load


async def model(state: Any) -> dict[str, Any]:
    await load.call()
    if isinstance(state["messages"][-1], ToolMessage):
        return {"messages": [AIMessage("It said hello.")]}
    wanted = {"name": "echo", "args": {"text": "hello"}, "id": str(uuid.uuid4())}
    return {"messages": [AIMessage("", tool_calls=[wanted])]}


async def tool(state: Any) -> dict[str, Any]:
    await load.call()
    wanted = state["messages"][-1].tool_calls[0]
    return {"messages": [ToolMessage(wanted["args"]["text"], tool_call_id=wanted["id"])]}


def after_model(state: Any) -> str:
    return "tool" if state["messages"][-1].tool_calls else str(END)


def graph(saver: Any) -> Any:
    made = StateGraph(MessagesState)
    made.add_node("model", model)
    made.add_node("tool", tool)
    made.add_edge(START, "model")
    made.add_conditional_edges("model", after_model, ["tool", END])
    made.add_edge("tool", "model")
    return made.compile(checkpointer=saver)


async def main(dsn: str, savers: int) -> None:
    async with AsyncExitStack() as stack:
        graphs = []
        for _ in range(savers):
            saver = await stack.enter_async_context(AsyncPostgresSaver.from_conn_string(dsn))
            await saver.setup()
            graphs.append(graph(saver))

        async def turn(session: str) -> None:
            mine = graphs[zlib.crc32(session.encode()) % savers]
            said = {"messages": [HumanMessage("Say hello to the tool.")]}
            answer = await mine.ainvoke(said, {"configurable": {"thread_id": session}}, durability="sync")
            assert answer["messages"][-1].content == "It said hello."

        await load.serve(turn)


if __name__ == "__main__":
    load.run(main(sys.argv[1], int(sys.argv[2])))
