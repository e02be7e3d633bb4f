from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from deploy.local.cache import Unprovided
from libs.policy import Policy
from tests.conformance.policy.laws import ENGINES

InForce = Callable[[Path], Awaitable[Policy]]
"""Activates a bundle for the tests of a module."""


@pytest_asyncio.fixture(
    scope="module", loop_scope="session", params=["rego", pytest.param("opa", marks=pytest.mark.slow)]
)
async def in_force(request: pytest.FixtureRequest) -> AsyncIterator[InForce]:
    async with AsyncExitStack() as stack:

        async def opened(folder: Path) -> Policy:
            try:
                return await stack.enter_async_context(ENGINES[request.param](folder))
            except Unprovided as reason:
                pytest.skip(f"no OPA: {reason}")

        yield opened
