"""A vendor on a real port, and the model adapter that calls it."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Protocol

import pytest
import pytest_asyncio
from pydantic import SecretStr

from libs.events.committee import Task
from libs.events.values import Plan
from libs.models.choice import Choice, Key, Output, chosen
from libs.models.vendors import Bounds, Price, VendorModel, opened
from libs.resilience import GuardedCall
from tests.infrastructure.vendor import KEY, Vendor, vendor
from tests.support.platform import plan

TASK = Task(text="list my files", intent="request", tools=("*",), workspace={"names": ["a.txt"]})
PLAN: Plan = plan(("manage-files.list", {"path": "."}))
LISTED = ("manage-files.list", {"path": "."})
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
PRICE = Price(1.0, 2.0)


@pytest.fixture(scope="session", autouse=True)
def _imported() -> None:
    """Import the vendors' clients, which takes seconds, before any test's CPU is counted."""
    for module in ("anthropic", "ollama", "openai"):
        importlib.import_module(f"pydantic_ai.models.{module}")


class Open(Protocol):
    async def __call__(
        self,
        provider: str = "openai",
        *,
        output: Output | None = None,
        guard: GuardedCall | None = None,
        **bounds: float,
    ) -> VendorModel: ...


def choice(vendor: Vendor, provider: str = "openai", *, output: Output | None = None) -> Choice:
    return chosen(f"{provider}:toy", url=vendor.url, key=Key(SecretStr(KEY), None, {}), output=output or "auto")


@pytest_asyncio.fixture
async def there() -> AsyncIterator[Vendor]:
    async with vendor() as running:
        yield running


@pytest_asyncio.fixture
async def model(there: Vendor) -> AsyncIterator[Open]:
    """Opens models of this vendor, with any limits."""
    async with AsyncExitStack() as stack:

        async def one(
            provider: str = "openai", *, output: Output | None = None, guard: GuardedCall | None = None, **bounds: float
        ) -> VendorModel:
            given = Bounds(**bounds)  # type: ignore[arg-type]
            line = await stack.enter_async_context(opened(choice(there, provider, output=output), given))
            return VendorModel(line, guard or GuardedCall("model"), price=PRICE, now=lambda: NOON, budgets=None)

        yield one


@pytest.fixture
def words() -> Callable[[VendorModel], AsyncIterator[str]]:
    async def of(model: VendorModel) -> AsyncIterator[str]:
        async for said in model.answer(TASK):
            if said.text:
                yield said.text

    return of
