"""The adapter for an OPA server: one question per HTTP request, through its data API.

OPA serves the archive that `python -m libs.policy.publish` makes, as the bundle `suma`. Its manifest names the
revision. OPA reads it in the same transaction as the rules, and returns it with each answer (`provenance`). So each
decision is recorded with the bundle that made it, also during an update and with several replicas.

Answers are not cached. A server may change its rules, or go away, between two questions, and a cached permission would
outlive both (docs/decisions/0015).
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

from libs.policy.ports import ENTRYPOINT, Decision, Json, PolicyUnanswered, answer, counted, question

BUNDLE = "suma"
"""The bundle's name in OPA's configuration."""

ASKED = {"provenance": "true", "strict-builtin-errors": "true"}
"""Return the revision. Make a failing builtin an error, because the negation of undefined would be true."""

ANSWER_BYTES_MOST = 1024 * 1024
CONNECTIONS_MOST = 32
REVISIONS_MOST = 8
"""Most revisions that are kept as verified: replicas behind one URL may differ for a while."""

STATUS_SECONDS = 3.0
"""Seconds between requests for OPA's status. It is long, and readiness checks run about once a second."""

_REVISION = re.compile(r"[0-9a-f]{64}")


class OpaPolicy:
    """The policy of an OPA server. `deadline` is in seconds, for each request.

    A bundle becomes active when it first denies an empty question, as all our rules do; before that its answers are not
    used.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        deadline: float,
        expected: str = "",
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._deadline = deadline
        self._expected = expected
        self._monotonic = monotonic
        self._asked_status = -math.inf
        self._stale_reason: str | None = None
        """Why OPA keeps an older bundle than the one on its server."""
        self._sound: deque[str] = deque(maxlen=REVISIONS_MOST)
        self._revision = ""
        self._problem: str | None = "The policy engine has not been asked yet."

    @property
    def revision(self) -> str:
        return self._revision

    @property
    def problem(self) -> str | None:
        return self._problem

    @property
    def remark(self) -> str:
        """Text for readiness if the active bundle is not that of our folder, as between two releases; else empty."""
        if self._expected in ("", self._revision):
            return ""
        return f"not the expected bundle {self._expected}: update the bundle that OPA is served, or SUMA_POLICY"

    async def decide(self, action: str, input: Mapping[str, Json]) -> Decision:
        revision, result = await self._ask(question(action, input))
        # The bundle may change between the question and the trial; then the one that answered is still untried.
        if revision not in self._sound and await self._try() != revision:
            raise PolicyUnanswered("The policy engine changed its bundle during the question; retry.")
        # After the trial: readiness reports only revisions whose answers are used.
        self._revision = revision
        return counted(answer(action, result, revision=revision))

    async def reload(self) -> bool:
        before = self._revision
        try:
            self._revision = await self._try()
            await self._look_at_status()
            self._problem = self._stale_reason
        except PolicyUnanswered as silent:
            self._problem = str(silent)
        return self._revision != before

    async def _try(self) -> str:
        """Return the revision that answers now, if it denies an empty question. Raises PolicyUnanswered."""
        revision, result = await self._ask({})
        if not isinstance(result, dict) or result.get("allowed") is not False:
            raise PolicyUnanswered("The policy engine's bundle does not deny an empty question.")
        if revision not in self._sound:
            self._sound.append(revision)
        return revision

    async def _ask(self, document: Mapping[str, Json]) -> tuple[str, object]:
        """Return the revision that answered, and its result or None if undefined. Raises PolicyUnanswered."""
        body = orjson.dumps({"input": document}, default=dict, option=orjson.OPT_NON_STR_KEYS)
        asked = self._client.build_request("POST", f"v1/data/{ENTRYPOINT}", params=ASKED, content=body)
        status, received = await self._fetched(asked)
        if status != 200:
            raise PolicyUnanswered(f"The policy engine answered {status}: {_within(received, 'message')}")
        revision = _within(received, "provenance", "bundles", BUNDLE, "revision")
        if not isinstance(revision, str) or not _REVISION.fullmatch(revision):
            raise PolicyUnanswered(f"The policy engine does not say which bundle {BUNDLE!r} answered.")
        return revision, _within(received, "result")

    async def _look_at_status(self) -> None:
        """Read from OPA's status whether it refused a newer bundle; no effect where the status is not served."""
        now = self._monotonic()
        if now - self._asked_status < STATUS_SECONDS:
            return
        status, received = await self._fetched(self._client.build_request("GET", "v1/status"))
        self._asked_status = now
        bundle = _within(received, "result", "bundles", BUNDLE)
        refused = status == 200 and _within(bundle, "code")
        self._stale_reason = f"The policy engine keeps the old bundle: {_bundle_error(bundle)}." if refused else None

    async def _fetched(self, request: httpx.Request) -> tuple[int, object]:
        """Return the status and JSON of an answer within the deadline. Raises PolicyUnanswered."""
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
async def connected(
    url: str,
    *,
    token: str | None = None,
    deadline: float = 1.0,
    expected: str = "",
    monotonic: Callable[[], float] = time.monotonic,
) -> AsyncIterator[OpaPolicy]:
    """Yield the policy of the OPA server at `url`; the first question opens its connections.

    `expected` is the revision of our own folder, with which readiness compares the server's.
    """
    # No proxy from the environment: a proxy could answer in place of OPA, and so decide.
    client = httpx.AsyncClient(
        base_url=url,
        # Not compressed: a small answer could unpack to a huge one.
        headers={"Accept-Encoding": "identity", **({"Authorization": f"Bearer {token}"} if token else {})},
        timeout=deadline,
        limits=httpx.Limits(max_connections=CONNECTIONS_MOST, max_keepalive_connections=CONNECTIONS_MOST),
        verify=ssl.create_default_context() if url.startswith("https:") else False,
        trust_env=False,
    )
    async with client:
        yield OpaPolicy(client, deadline=deadline, expected=expected, monotonic=monotonic)


@asynccontextmanager
async def _answered(client: httpx.AsyncClient, request: httpx.Request) -> AsyncIterator[httpx.Response]:
    """Yield the response once its head has arrived; the body follows as a stream."""
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


def _bundle_error(bundle: object) -> str:
    """Return the reason as in `error(s) occurred …: suma.rego: 2: unexpected eof token`, as far as OPA gives it."""
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
    """Return the value at this path, or None: the document may have any form."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return document
