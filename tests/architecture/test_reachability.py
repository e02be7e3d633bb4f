"""What one service offers has a user elsewhere: events are published and read, and internal routes have a client."""

from __future__ import annotations

import ast
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
import pytest_asyncio

from libs.database import Dsns
from libs.events import registry, topics
from libs.runtime.service import Service
from services import catalog
from tests.support.platform import build_platform

ROOT = Path(__file__).parents[2]
RETIRED = {"suma.tool.started.v1": "old logs hold it (decision 0090)"}
"""Event types that are neither published nor read, and why each stays."""
WITHOUT_CLIENT = {
    "/remember": "the memory API of S3-06 (decision 0090)",
    "/facts/block": "the memory API of S3-06 (decision 0090)",
}
"""Internal routes that no client of Suma calls, and why each stays."""
HEALTH = frozenset(("/healthz", "/readyz", "/metrics"))
SOURCE = [file for folder in ("libs", "services") for file in sorted((ROOT / folder).rglob("*.py"))]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def services(place: Dsns, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sequence[Service]]:
    async with build_platform(place, tmp_path_factory.mktemp("platform"), names=catalog.NAMES) as (_, built):
        yield built


async def test_every_event_has_a_subscriber(services: Sequence[Service]) -> None:
    read = {subscription.event.type for service in services for subscription in service.subscriptions}
    projected = {projection.topic for service in services for projection in service.projections}
    read |= {name for name, event in registry.items() if event.topic in projected} - RETIRED.keys()
    assert projected == {topic for topic in topics.TOPICS.values() if topic.projected}
    assert registry.keys() - read == RETIRED.keys()


def test_every_event_is_published() -> None:
    texts = "".join(file.read_text() for file in SOURCE if file.parts[-2] != "events")
    called = set(re.findall(r"\b(\w+)(?:\(|\.model_validate)", texts))
    made = {name for name, event in registry.items() if event.__name__ in called}
    assert registry.keys() - made == RETIRED.keys()


async def test_every_internal_route_has_a_client(services: Sequence[Service]) -> None:
    unused = {
        path
        for service in services
        if service.name != topics.GATEWAY and service.api is not None
        for path in _paths(service)
        if not {part for part in path.split("/") if part and "{" not in part} <= _words_of_clients(service.name)
    }
    assert unused == WITHOUT_CLIENT.keys()


def _paths(service: Service) -> Iterator[str]:
    assert service.api is not None
    routes: Sequence[object] = getattr(service.api.app, "routes", ())
    yield from (path for route in routes if (path := getattr(route, "path", "")) and path not in HEALTH)


@cache
def _words_of_clients(service: str) -> set[str]:
    """Return the words in the texts of the modules that call this service."""
    constant = next((name for name, value in vars(topics).items() if value == service), service)
    found = set[str]()
    for file in SOURCE:
        text = file.read_text()
        named = re.search(rf'"{service}"|\b{constant}\b', text) and service not in file.parts
        if named and re.search(r"from libs\.clients(\.calls)? import", text):
            texts = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
            found |= {word for one in texts if isinstance(one, str) for word in re.findall(r"[\w-]+", one)}
    return found
