"""Pictures for a model that sees: those that a person attached and those that a turn's steps read, the newest few.

A step's data names the blob of its picture, which the executor made small (0118). An attached file is an upload, made
small here by the child process of documents; of a scanned PDF these are its first pages. The payer of a call names the
tenant whose pictures it may show.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from libs.budgets.paying import payer
from libs.documents import SCAN_PAGES, CannotRead, read_picture, read_scan
from libs.errors import NotFound
from libs.events.committee import Task
from libs.events.values import PDF, Attached, Observation
from libs.objects import UPLOADS, area

MOST, BYTES_MOST = 4, 1 << 20
"""Pictures of one request, and bytes of each."""
UPLOAD_BYTES_MOST = 32 << 20
"""A larger attached file is not decoded."""
TOKENS_MOST = 3_300
"""Tokens of a picture with sides of at most 1,568 pixels: Anthropic counts width × height / 750, OpenAI fewer (but for
its cheapest models, whose price of a token is as much lower).
"""
SHA256 = re.compile(r"[0-9a-f]{64}")
JPEG = b"\xff\xd8\xff"
Load = Callable[[str, str], Awaitable[bytes]]
"""Return a tenant's blob. Raises NotFound, Unavailable."""


@dataclass(frozen=True, slots=True)
class Source:
    """A picture, by its place in the data: `step 2`, `attached file 1`. `media_type` is empty for that of a step."""

    place: str
    blob: str
    media_type: str = ""

    @property
    def pages(self) -> int:
        return SCAN_PAGES if self.media_type == PDF else 1


@dataclass(frozen=True, slots=True)
class Pictures:
    """The pictures of a request. Those at the places in `left_out` are not shown; a blind model is shown none."""

    sources: tuple[Source, ...] = ()
    left_out: tuple[str, ...] = ()
    loaded: tuple[tuple[str, bytes], ...] = ()
    blind: bool = False

    @property
    def tokens_most(self) -> int:
        return sum(source.pages for source in self.sources) * TOKENS_MOST


def of(task: Task, *, sees: bool) -> Pictures:
    """Return the newest pictures that the person attached and the steps have read."""
    attached = [(f"attached file {n}", file) for n, file in enumerate(task.attachments, 1) if file.sha256]
    if not sees:
        return Pictures(blind=bool(attached))
    found = [
        *(Source(place, _fitting(file), file.media_type) for place, file in attached),
        *(Source(f"step {seen.ordinal}", blob) for seen in task.observations if (blob := _blob(seen)) is not None),
    ]
    shown, room = list[Source](), MOST
    for source in reversed(found):
        if source.blob and source.pages <= room:
            shown.insert(0, source)
            room -= source.pages
    return Pictures(tuple(shown), tuple(source.place for source in found if source not in shown))


async def loaded(pictures: Pictures, load: Load) -> Pictures:
    """Return them with their bytes. A picture that is gone, or is none, counts as left out. Raises Unavailable."""
    whose, found, gone = payer(), list[tuple[str, bytes]](), list[str]()
    for source in pictures.sources:
        content = await _pages(whose.tenant, source, load) if whose is not None else ()
        numbered = source.media_type == PDF
        found += [
            (f"{source.place}, page {n}" if numbered else source.place, each) for n, each in enumerate(content, 1)
        ]
        gone += [] if content else [source.place]
    return replace(pictures, left_out=(*pictures.left_out, *gone), loaded=tuple(found))


async def _pages(tenant: str, source: Source, load: Load) -> Sequence[bytes]:
    with suppress(NotFound, CannotRead):
        if not source.media_type:
            content = await load(tenant, source.blob)
            # Any tool may have named the blob.
            return [content] if content.startswith(JPEG) and len(content) <= BYTES_MOST else []
        raw = await load(area(tenant, UPLOADS), source.blob)
        if source.media_type == PDF:
            return await asyncio.to_thread(read_scan, raw, check=_never)
        return [(await asyncio.to_thread(read_picture, raw, check=_never)).jpeg]
    return []


def _never() -> None:
    """Check for nothing: the child's own limits end it within seconds."""


def _fitting(file: Attached) -> str:
    return file.sha256 if SHA256.fullmatch(file.sha256) and file.size <= UPLOAD_BYTES_MOST else ""


def _blob(observation: Observation) -> str | None:
    data = observation.data
    picture = data.get("picture") if isinstance(data, dict) else None
    blob = picture.get("sha256") if isinstance(picture, dict) else None
    return blob if isinstance(blob, str) and SHA256.fullmatch(blob) else None
