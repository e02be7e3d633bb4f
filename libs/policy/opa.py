"""Policy by a server: Open Policy Agent, asked over HTTP through its data API, one question a request.

OPA serves the archive that `python -m libs.policy.publish` makes, as the bundle `suma`. The manifest in it names the
revision, OPA reads it in the same transaction as the rules, and each answer brings it (`provenance`): so a decision is
recorded with the bundle that made it, also while a new one is being swapped in, and whichever replica answers.

Nothing is remembered here. A server's law may change, or the server may go away, between two questions, and a
remembered yes would outlive both (docs/decisions/0015).
"""

from __future__ import annotations

import asyncio
import math
import re
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import httpx
import orjson

from libs.policy.ports import ENTRYPOINT, Decision, Json, PolicyUnanswered, answer, question

BUNDLE = "suma"
"""The bundle's name in OPA's settings."""

ASKED = {"provenance": "true", "strict-builtin-errors": "true"}
"""With the revision; and a builtin that fails is an error, since the negation of undefined would be a yes."""

ANSWER_BYTES_MOST = 1024 * 1024
CONNECTIONS_MOST = 32
REVISIONS_MOST = 8
"""How many revisions are remembered as sound: replicas behind one URL may differ for a while."""

STATUS_SECONDS = 3.0
"""How often OPA's status is asked for. It is long, and readiness asks about once a second."""

_REVISION = re.compile(r"[0-9a-f]{64}")


class OpaPolicy:
    """The law that an OPA server answers by. `deadline` is in seconds, for each request.

    A bundle is in force from the first time that it refuses an empty question, as any law of ours does; until then
    its answers count as none.
    """

    def __init__(
        self, client: httpx.AsyncClient, *, deadline: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._deadline = deadline
        self._monotonic = monotonic
        self._asked_status = -math.inf
        self._kept: str | None = None
        """Why OPA keeps an older bundle than it was given."""
        self._sound: deque[str] = deque(maxlen=REVISIONS_MOST)
        self._revision = ""
        self._problem: str | None = "The policy engine was not asked yet."

    @property
    def revision(self) -> str:
        return self._revision

    @property
    def problem(self) -> str | None:
        return self._problem

    async def decide(self, action: str, input: Mapping[str, Json]) -> Decision:
        revision, result = await self._ask(question(action, input))
        if revision not in self._sound and await self._try() != revision:
            raise PolicyUnanswered("The policy engine changed its bundle meanwhile.")
        self._revision = revision
        return answer(action, result, revision=revision)

    async def reload(self) -> bool:
        before = self._revision
        try:
            self._revision = await self._try()
            await self._look_at_status()
            self._problem = self._kept
        except PolicyUnanswered as silent:
            self._problem = str(silent)
        return self._revision != before

    async def _try(self) -> str:
        """The revision that answers now, if it refuses an empty question."""
        revision, result = await self._ask({})
        if not isinstance(result, dict) or result.get("allowed") is not False:
            raise PolicyUnanswered("The policy engine's bundle does not refuse an empty question.")
        if revision not in self._sound:
            self._sound.append(revision)
        return revision

    async def _ask(self, document: Mapping[str, Json]) -> tuple[str, object]:
        """The revision that answered, and its answer; None where the rules have none."""
        body = orjson.dumps({"input": document}, default=dict, option=orjson.OPT_NON_STR_KEYS)
        asked = self._client.build_request("POST", f"v1/data/{ENTRYPOINT}", params=ASKED, content=body)
        status, told = await self._told(asked)
        if status != 200:
            raise PolicyUnanswered(f"The policy engine answered {status}: {_within(told, 'message')}")
        revision = _within(told, "provenance", "bundles", BUNDLE, "revision")
        if not isinstance(revision, str) or not _REVISION.fullmatch(revision):
            raise PolicyUnanswered(f"The policy engine does not say which bundle {BUNDLE!r} answered.")
        return revision, _within(told, "result")

    async def _look_at_status(self) -> None:
        """What OPA says of a newer bundle that it could not put in force; nothing where its status is not served."""
        now = self._monotonic()
        if now - self._asked_status < STATUS_SECONDS:
            return
        status, told = await self._told(self._client.build_request("GET", "v1/status"))
        self._asked_status = now
        bundle = _within(told, "result", "bundles", BUNDLE)
        refused = status == 200 and _within(bundle, "code")
        self._kept = f"The policy engine keeps the old bundle: {_complaint(bundle)}." if refused else None

    async def _told(self, request: httpx.Request) -> tuple[int, object]:
        """The status and the JSON of an answer that came in time."""
        try:
            async with asyncio.timeout(self._deadline), _answered(self._client, request) as response:
                return response.status_code, orjson.loads(await _bounded(response))
        except TimeoutError:
            raise PolicyUnanswered("The policy engine answered too late.") from None
        except httpx.HTTPError as failed:
            raise PolicyUnanswered(f"The policy engine does not answer: {failed!r}") from failed
        except orjson.JSONDecodeError as garbled:
            raise PolicyUnanswered("The policy engine's answer was not JSON.") from garbled


@asynccontextmanager
async def connected(url: str, *, token: str | None = None, deadline: float = 1.0) -> AsyncIterator[OpaPolicy]:
    """The policy of the OPA server at `url`; its connections are made at the first question."""
    # Not by way of a proxy that the environment names: who answers for OPA decides.
    client = httpx.AsyncClient(
        base_url=url,
        headers={"Accept-Encoding": "identity", **({"Authorization": f"Bearer {token}"} if token else {})},
        timeout=deadline,
        limits=httpx.Limits(max_connections=CONNECTIONS_MOST, max_keepalive_connections=CONNECTIONS_MOST),
        verify=ssl.create_default_context() if url.startswith("https:") else False,
        trust_env=False,
    )
    async with client:
        yield OpaPolicy(client, deadline=deadline)


@asynccontextmanager
async def _answered(client: httpx.AsyncClient, request: httpx.Request) -> AsyncIterator[httpx.Response]:
    """The head of the answer, while its body comes in."""
    response = await client.send(request, stream=True)
    try:
        yield response
    finally:
        await response.aclose()


async def _bounded(response: httpx.Response) -> bytes:
    content = bytearray()
    async for chunk in response.aiter_raw():
        content += chunk
        if len(content) > ANSWER_BYTES_MOST:
            raise PolicyUnanswered("The policy engine's answer was too long.")
    return bytes(content)


def _complaint(bundle: object) -> str:
    """`error(s) occurred …: suma.rego: 2: unexpected eof token`, as far as it is told."""
    errors = _within(bundle, "errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    parts = (
        _within(bundle, "message"),
        _within(first, "location", "file"),
        _within(first, "location", "row"),
        _within(first, "message"),
    )
    return ": ".join(str(part) for part in parts if part)


def _within(document: object, *path: str) -> object:
    """What stands there, or None: an answer may be anything."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return document
