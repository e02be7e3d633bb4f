"""Budget accounts, new for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from libs.database import Dsns
from tests.infrastructure.bank import Bank
from tests.infrastructure.bank import bank as opened


@pytest_asyncio.fixture(loop_scope="session")
async def bank(where: Dsns) -> AsyncIterator[Bank]:
    async with opened(where) as bank:
        yield bank
