"""A warm command in a sandbox beside `docker exec` in the same image, the start of a sandbox, and its memory."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import docker
from rich.text import Text

from deploy.local.cache import Unprovided
from deploy.local.docker_engine import engine
from deploy.local.runner_image import build
from libs.sandbox import Command, Limits, NoSandbox, Sandboxes, scratch_folder
from tests.benchmarks.rows import Row, most
from tests.conformance.sandbox.rigs import PLATFORM, RIGS

WORDS = ("echo", "hi")


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    rounds = 20 if quick else 100
    rows: list[Row] = []
    async with AsyncExitStack() as stack:
        try:
            tell("starting an engine")
            address = await stack.enter_async_context(engine())
            client = docker.DockerClient(address)
            image = await asyncio.to_thread(build, engine=client)
        except Unprovided as reason:
            return rows, Text(f"no Docker engine: {reason}")
        container = await asyncio.to_thread(
            client.containers.run, image, ["sleep", "3600"], detach=True, network_mode="none"
        )
        stack.callback(container.remove, force=True)

        async def raw() -> None:
            await asyncio.to_thread(container.exec_run, list(WORDS))

        for name, made in RIGS.items():
            tell(f"{name}: warm commands")
            try:
                rows += await _measured(name, made(address).launcher(), client, raw, rounds)
            except NoSandbox as reason:
                tell(f"no {name}: {reason}")
    return rows, Text()


async def _measured(
    name: str, launcher: Any, client: Any, raw: Callable[[], Awaitable[None]], rounds: int
) -> list[Row]:
    ours, theirs, starts = list[float](), list[float](), list[float]()
    held: float | None = None
    async with Sandboxes(launcher) as backend, scratch_folder(None, Limits()) as folder:
        for _ in range(max(5, rounds // 10)):
            starts.append(await _timed(lambda: backend.open("bench", folder)))
            session = await backend.open("bench", folder)
            held = _megabytes(client) if name == "docker" else None
            for _ in range(10):
                ours.append(await _timed(lambda: session.run(Command(WORDS))))  # noqa: B023 - called at once
                theirs.append(await _timed(raw))
            await session.close()
    exec_ms = statistics.median(theirs)
    return [
        Row(f"{name}: a warm command", statistics.median(ours), "ms", "raw docker exec", exec_ms, most(0.2)),
        Row(f"{name}: the start of a sandbox", statistics.median(starts), "ms"),
        *([Row(f"{name}: memory of an idle sandbox", held, "MB", goal=most(32.0))] if held is not None else []),
    ]


async def _timed(act: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await act()
    return (time.perf_counter() - began) * 1000


def _megabytes(client: Any) -> float:
    used: int = client.containers.get(f"suma-runner-{PLATFORM}-bench").stats(stream=False)["memory_stats"]["usage"]
    return used / 1e6
