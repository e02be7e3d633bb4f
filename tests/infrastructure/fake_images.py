"""A provider of pictures over real HTTP: the APIs of OpenAI, Stability and Replicate, and the ways in which they fail.

Each request takes the next answer of the script, and the last one stays; `asked` keeps the requests.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.infrastructure.vendor import serving


@dataclass(frozen=True)
class Reply:
    """One answer."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    """It never comes."""


def told(said: Any, status: int = 200, **headers: str) -> Reply:
    """An answer in JSON."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(json.dumps(said).encode(), status, {"content-type": "application/json", **named})


def openai(picture: bytes) -> Reply:
    return told({"created": 1, "data": [{"b64_json": base64.b64encode(picture).decode()}]})


def chatted(text: str, sent: int = 900, received: int = 100) -> Reply:
    """The answer of a model, with the tokens that it reports."""
    usage = {"prompt_tokens": sent, "completion_tokens": received}
    return told({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}], "usage": usage})


@dataclass
class Images:
    """A running one. `files` are the pictures that can be downloaded, and `answers` those to anything else."""

    answers: list[Reply] = field(default_factory=list)
    files: dict[str, Reply] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, str], bytes]] = field(default_factory=list)
    url: str = ""
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def posts(self, path: str = "") -> list[tuple[str, Mapping[str, str], bytes]]:
        """The requests whose method and path contain this."""
        return [each for each in self.asked if path in each[0]]

    async def answer(self, request: Request) -> Response:
        body = await request.body()
        self.asked.append((f"{request.method} {request.url.path}", dict(request.headers), body))
        self.came.set()
        name = request.url.path.removeprefix("/files/")
        reply = self.files.get(name) or (self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])
        if reply.hangs:
            await asyncio.Event().wait()
        return Response(reply.body, reply.status, dict(reply.headers))


@asynccontextmanager
async def images(*answers: Reply, **files: Reply) -> AsyncIterator[Images]:
    """A provider on a port of its own, until the block ends."""
    played = Images(list(answers), files)
    app = Starlette(routes=[Route("/{path:path}", played.answer, methods=["GET", "POST"])])
    async with serving(app) as (url, _):
        played.url = url
        yield played
