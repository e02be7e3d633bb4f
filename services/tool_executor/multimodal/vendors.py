"""Providers of pictures over HTTP: the APIs of OpenAI's images, of Stability and of Replicate.

Nothing of an answer is believed. Its size is bounded, a download comes from the provider's own hosts alone, and a
picture is what a decoder in a child process says it is. A request that the provider may have charged for is repeated
only if it takes an idempotency key.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import gcd
from typing import Any
from urllib.parse import urlsplit

from typing_extensions import override

from libs.clients import NoAnswer, get
from libs.documents import CannotRead, read_picture
from libs.errors import SumaError
from libs.guards import Target, UrlRefused, check_redirect, check_url
from libs.multimodal.ports import Brief, CannotProduce, Capability, Made, Modality, Producer, StepType
from libs.resilience import CircuitOpen, GuardedCall, GuardedCalls, State
from services.tool_executor.multimodal.calling import (
    BadAnswer,
    Line,
    ProviderRefused,
    ProviderUnavailable,
    parsed,
    quoted,
)
from services.tool_executor.multimodal.provider_settings import ImageProvider
from services.tool_executor.settings import Settings

PROMPT_MOST, CRITIQUE_MOST = 4000, 1500
"""Characters of a prompt, and of the critiques at its end."""
FORMATS: Mapping[str, str] = {"PNG": "png", "JPEG": "jpeg", "WEBP": "webp"}
REDIRECTS_MOST, DOWNLOADS_MOST = 3, 3
MOVED = frozenset((301, 302, 303, 307, 308))
CANCEL_SECONDS = 5.0
GRACE_SECONDS = 5.0
"""Beyond a provider's own limit, before its guard counts a call as lost."""


class Unfit(CannotProduce):
    """The provider makes no such picture; nothing was sent."""

    charged = False


def configured(settings: Settings, calls: GuardedCalls) -> Sequence[Producer]:
    """Return a producer for each configured provider. Nothing is sent yet."""
    kinds: Mapping[str, type[_Pictures]] = {"openai": _OpenAi, "stability": _Stability, "replicate": _Replicate}
    return [
        kinds[given.kind](name, given, calls.to(f"images:{name}")) for name, given in settings.image_providers.items()
    ]


class _Pictures(ABC):
    """Makes pictures with one provider."""

    health = ""
    """A path whose answer is free."""

    def __init__(self, name: str, given: ImageProvider, guard: GuardedCall) -> None:
        self._given, self._guard, self._line = given, guard, Line(name, given)
        self.capability = Capability(
            tool_id=given.tool_id,
            provider=name,
            step_types=frozenset((StepType.IMAGE,)),
            modalities=frozenset((Modality.IMAGE,)),
            formats=given.formats,
            constraints={
                "min_resolution": min(max(_sides(size)) for size in given.sizes),
                "max_resolution": max(max(_sides(size)) for size in given.sizes),
                "honours_keys": given.honours_keys,
            },
            cost_tier=given.cost_tier,
            cost_micros=given.cost_micros,
            priority=given.priority,
            destination=given.target().host,
            revises=True,
        )

    async def produce(self, brief: Brief, *, check: Callable[[], None]) -> Made:
        """Make a picture. Raises Unfit, ProviderRefused, BadAnswer, UrlRefused, ProviderUnavailable."""
        check()
        if brief.format not in self._given.formats:
            raise Unfit(f"{self._line.name} makes {', '.join(self._given.formats)}, not {brief.format}")
        size, prompt = self._size(brief), _prompt(brief)
        try:
            raw = await self._guard.repeat(
                lambda: self._in_time(brief, prompt, size, check), seconds=self._given.seconds + GRACE_SECONDS
            )
        except CircuitOpen as error:
            raise ProviderUnavailable(str(error), charged=False, retry_after=error.retry_after) from error
        found, width, height = await asyncio.to_thread(self._verified, raw, check)
        if found != brief.format:
            raise BadAnswer(f"{self._line.name} sent a {found.upper()} picture instead of {brief.format.upper()}")
        if max(width, height) > brief.max_resolution:
            raise BadAnswer(
                f"{self._line.name} sent {width} × {height} pixels; raise max_resolution, or correct its `sizes`"
            )
        return Made(
            data=raw,
            format=found,
            width=width,
            height=height,
            cost_micros=self._given.cost_micros,
            model=self._given.model,
            parameters={"size": size},
        )

    async def problem(self) -> str:
        """Ask for something free. An open circuit admits its next call once the provider answers."""
        try:
            async with asyncio.timeout(self._given.seconds):
                await self._line.ask("GET", self.health, repeatable=True)
        except ProviderRefused as refused:
            if "HTTP 404" not in str(refused) and "HTTP 405" not in str(refused):
                return str(refused)
        except TimeoutError:
            return f"{self._line.name} did not answer in time"
        except BadAnswer:
            pass  # The list may be long; that it came is enough.
        except SumaError as error:
            return str(error)
        if self._guard.state is State.OPEN:
            self._guard.probe_now()
        return ""

    @abstractmethod
    async def _picture(self, prompt: str, size: str, brief: Brief, check: Callable[[], None]) -> bytes:
        """Return the bytes of a picture as the provider sent them."""

    async def _in_time(self, brief: Brief, prompt: str, size: str, check: Callable[[], None]) -> bytes:
        try:
            async with asyncio.timeout(self._given.seconds):
                return await self._picture(prompt, size, brief, check)
        except TimeoutError:
            message = f"{self._line.name} did not answer within {self._given.seconds:g} s"
            raise ProviderUnavailable(message, charged=True) from None

    async def _create(self, path: str, brief: Brief, *, most: int, **fields: Any) -> Any:
        """Send the request that is charged for."""
        given, key = self._given, brief.key
        headers = {**fields.pop("headers", {}), **({"Idempotency-Key": key} if given.honours_keys and key else {})}
        repeatable = given.honours_keys and bool(key)
        return await self._line.ask("POST", path, headers=headers, most=most, repeatable=repeatable, **fields)

    async def _download(self, url: str, check: Callable[[], None]) -> bytes:
        """Download a picture that was made. Without the key, since its host may be another."""
        target = self._allowed(url)
        for left in reversed(range(DOWNLOADS_MOST)):
            check()
            try:
                return await self._followed(target)
            except NoAnswer as error:
                if not left:
                    raise BadAnswer(f"{self._line.name}'s picture cannot be downloaded: {error}") from error
            await asyncio.sleep(self._given.poll_seconds)
        raise AssertionError("the last try returns or raises")

    async def _followed(self, target: Target) -> bytes:
        for _ in range(REDIRECTS_MOST + 1):
            answer = await get(target, accept="image/*", seconds=self._given.seconds, most=self._given.bytes_most)
            if answer.status in MOVED and answer.location is not None:
                target = self._allowed(answer.location, target)
            elif answer.status not in range(200, 300):
                raise NoAnswer(f"{target.host} answered with HTTP status {answer.status}")
            elif not answer.whole:
                raise BadAnswer(f"{self._line.name} sent a picture larger than {self._given.bytes_most:,} bytes")
            else:
                return answer.body
        raise BadAnswer(f"{self._line.name}'s picture is redirected more than {REDIRECTS_MOST} times")

    def _allowed(self, url: str, before: Target | None = None) -> Target:
        """Return the target if it is one of the provider's hosts."""
        given, port = self._given, urlsplit(self._given.url).port
        ports, hosts = (443, port or 443), given.hosts if given.private else frozenset[str]()
        try:
            found = (
                check_url(url, ports=ports, allowed=hosts)
                if before is None
                else check_redirect(before, url, ports=ports, allowed=hosts)
            )
        except UrlRefused as refused:
            raise UrlRefused(refused.rule, f"{self._line.name} names a picture elsewhere: {refused}") from None
        if not {found.host, urlsplit(found.url).netloc.lower()} & given.hosts:
            raise UrlRefused(
                "url.download",
                f"{self._line.name} names a picture at {found.host}; add that to its download_hosts if it is right",
            )
        return found

    def _verified(self, raw: bytes, check: Callable[[], None]) -> tuple[str, int, int]:
        try:
            found = read_picture(raw, check=check)
        except CannotRead as error:
            raise BadAnswer(f"{self._line.name} sent no usable picture: {error}") from error
        if found.form not in FORMATS:
            raise BadAnswer(f"{self._line.name} sent a {found.form} picture, which is not kept")
        return FORMATS[found.form], found.width, found.height

    def _size(self, brief: Brief) -> str:
        fitting = [size for size in self._given.sizes if max(_sides(size)) <= brief.max_resolution]
        if not fitting:
            least = min(max(_sides(size)) for size in self._given.sizes)
            raise Unfit(f"{self._line.name} makes no picture below {least} pixels; raise max_resolution")
        return max(fitting, key=lambda size: _sides(size)[0] * _sides(size)[1])

    def _decoded(self, text: str) -> bytes:
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise BadAnswer(f"{self._line.name} sent a picture that is cut off, or is not base64") from None


class _OpenAi(_Pictures):
    health = "/models"

    @override
    async def _picture(self, prompt: str, size: str, brief: Brief, check: Callable[[], None]) -> bytes:
        model = self._given.model
        # The newer models always answer with base64, and refuse to be asked for it.
        form = {"output_format": brief.format} if model.startswith("gpt-image") else {"response_format": "b64_json"}
        asked = {"model": model, "prompt": prompt, "n": 1, "size": size, **form}
        most = self._given.bytes_most * 4 // 3 + (64 << 10)
        reply = await self._create("/images/generations", brief, most=most, json=asked)
        check()
        data = (await asyncio.to_thread(parsed, self._line.name, reply.body)).get("data")
        first = data[0] if isinstance(data, list) and data and isinstance(data[0], dict) else {}
        if isinstance(found := first.get("b64_json"), str):
            return await asyncio.to_thread(self._decoded, found)
        if isinstance(url := first.get("url"), str):
            return await self._download(url, check)
        raise BadAnswer(f"{self._line.name} sent an answer without a picture")


class _Stability(_Pictures):
    health = "/v1/user/balance"

    @override
    async def _picture(self, prompt: str, size: str, brief: Brief, check: Callable[[], None]) -> bytes:
        form = {"prompt": prompt, "output_format": brief.format, "aspect_ratio": _ratio(size)}
        path = f"/v2beta/stable-image/generate/{self._given.model}"
        headers = {"Accept": "image/*"}
        reply = await self._create(path, brief, most=self._given.bytes_most, form=form, headers=headers)
        if reply.headers.get("finish-reason", "").upper() == "CONTENT_FILTERED":
            raise ProviderRefused(f"{self._line.name} refuses the request: its filter hides the picture; reword it")
        return bytes(reply.body)


class _Replicate(_Pictures):
    health = "/account"

    @override
    async def _picture(self, prompt: str, size: str, brief: Brief, check: Callable[[], None]) -> bytes:
        kind = "jpg" if brief.format == "jpeg" else brief.format
        asked = {"input": {"prompt": prompt, "aspect_ratio": _ratio(size), "output_format": kind}}
        most = 1 << 20
        reply = await self._create(f"/models/{self._given.model}/predictions", brief, most=most, json=asked)
        said = parsed(self._line.name, reply.body)
        # Its own addresses are not used: the key goes to the configured one.
        if not isinstance(name := said.get("id"), str) or not re.fullmatch(r"[\w-]{1,100}", name, re.ASCII):
            raise BadAnswer(f"{self._line.name} sent an answer without the id of its work")
        try:
            said = await self._awaited(f"/predictions/{name}", said, most, check)
        except BaseException:
            # Work that no one waits for is still charged for.
            with suppress(SumaError, TimeoutError):
                async with asyncio.timeout(CANCEL_SECONDS):
                    await self._line.ask("POST", f"/predictions/{name}/cancel", repeatable=True)
            raise
        found = said.get("output")
        url = found[0] if isinstance(found, list) and found else found
        if not isinstance(url, str):
            raise BadAnswer(f"{self._line.name} sent an answer without a picture")
        return await self._download(url, check)

    async def _awaited(self, path: str, said: dict[str, Any], most: int, check: Callable[[], None]) -> dict[str, Any]:
        """Return the answer once the work is over."""
        for _ in range(self._given.polls_most):
            match said.get("status"):
                case "succeeded":
                    return said
                case "failed" | "canceled":
                    why = said.get("error")
                    words = quoted(why) if isinstance(why, str) else ""
                    raise ProviderRefused(f"{self._line.name} made no picture{f': “{words}”' if words else ''}")
            check()
            await asyncio.sleep(self._given.poll_seconds)
            # One lost answer loses nothing: the work goes on.
            with suppress(ProviderUnavailable):
                reply = await self._line.ask("GET", path, most=most, repeatable=True)
                said = parsed(self._line.name, reply.body)
        message = f"{self._line.name} made no picture while it was asked {self._given.polls_most} times"
        raise ProviderUnavailable(message, charged=True)


def _prompt(brief: Brief) -> str:
    """Return the words of the request with the critiques of earlier attempts, the newest first to be kept."""
    words = brief.prompt or brief.title
    notes = "\n".join(f"- {note}" for note in reversed(brief.feedback))[:CRITIQUE_MOST]
    changes = f"\n\nChanges to make to the last try:\n{notes}" if notes else ""
    return words[: PROMPT_MOST - len(changes)] + changes


def _sides(size: str) -> tuple[int, int]:
    width, _, height = size.partition("x")
    return int(width), int(height)


def _ratio(size: str) -> str:
    width, height = _sides(size)
    part = gcd(width, height)
    return f"{width // part}:{height // part}"
