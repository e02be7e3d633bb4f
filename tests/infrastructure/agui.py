"""AG-UI's own client from npm, in one Node process for many runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.local.web import node
from tests.infrastructure.packages import installed

VERSION = "1.0.0"
RUN_SECONDS = 60.0
LINE_MOST = 1 << 24
PROGRAM = """
import { HttpAgent } from "@ag-ui/client";
import readline from "node:readline";
// The client also rejects a promise of its own when a stream breaks; `runAgent` has reported that.
process.on("unhandledRejection", (reason) => console.error(reason));
console.debug = console.log = console.info = console.warn = (...said) => console.error(...said);
const agents = new Map();
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { url, key, thread, message, leaveAt, ...params } = JSON.parse(line);
  const name = `${key} ${thread}`;
  const headers = { Authorization: `Bearer ${key}` };
  if (!agents.has(name)) agents.set(name, new HttpAgent({ url, threadId: thread, headers }));
  const agent = agents.get(name);
  const events = [];
  let error = null;
  if (message) agent.addMessage({ id: crypto.randomUUID(), role: "user", content: message });
  try {
    await agent.runAgent(params, {
      onEvent: ({ event }) => {
        events.push(event);
        if (event.type === leaveAt) agent.abortRun();
      },
    });
  } catch (failed) {
    error = String(failed.message ?? failed);
  }
  const { messages, state, pendingInterrupts: interrupts } = agent;
  process.stdout.write(JSON.stringify({ events, error, messages, state, interrupts }) + "\\n");
}
"""


@dataclass(frozen=True)
class Seen:
    """A run as the client saw it, and what the client holds after it."""

    events: list[dict[str, Any]]
    error: str | None
    messages: list[dict[str, Any]]
    state: dict[str, Any]
    interrupts: list[dict[str, Any]]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def text(self) -> str:
        """The last message of the assistant."""
        said = [m["content"] for m in self.messages if m["role"] == "assistant" and m.get("content")]
        return str(said[-1]) if said else ""


class Client:
    """The clients of one Node process, by key and thread."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def run(self, url: str, key: str, thread: str, message: Any = None, **params: Any) -> Seen:
        """Run an agent; `resume`, `runId` and `forwardedProps` are the client's own parameters."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        about = {"url": f"{url}/agui", "key": key, "thread": thread, "message": message, **params}
        self._process.stdin.write(json.dumps(about).encode() + b"\n")
        async with asyncio.timeout(RUN_SECONDS):
            return Seen(**json.loads(await self._process.stdout.readline()))


def package() -> Path:
    """Return the folder in which Node finds the client. Raises Unprovided."""
    return installed(f"agui-client-{VERSION}", f"@ag-ui/client@{VERSION}", f"@ag-ui/core@{VERSION}")


@asynccontextmanager
async def client() -> AsyncIterator[Client]:
    """Start the client. Raises Unprovided if npm cannot provide it."""
    place = await asyncio.to_thread(package)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(str(node() / "bin/node"), "--input-type=module", "-e", PROGRAM),
        cwd=place,
        env={"HOME": "/"},
        stdin=pipe,
        stdout=pipe,
        stderr=asyncio.subprocess.DEVNULL,
        limit=LINE_MOST,
    )
    try:
        yield Client(process)
    finally:
        process.kill()
        await process.wait()
