from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from libs.policy import Policy
from tests.conformance.policy.laws import ENGINES
from tests.infrastructure.cache import Unprovided

InForce = Callable[[Path], Awaitable[Policy]]
"""Puts a bundle in force, for as long as the tests of a module need it."""


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=ENGINES)
async def in_force(request: pytest.FixtureRequest) -> AsyncIterator[InForce]:
    async with AsyncExitStack() as stack:

        async def opened(folder: Path) -> Policy:
            try:
                return await stack.enter_async_context(ENGINES[request.param](folder))
            except Unprovided as reason:
                pytest.skip(f"no OPA: {reason}")

        yield opened
