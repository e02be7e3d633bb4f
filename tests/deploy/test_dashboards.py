"""The dashboards: after turns through the production profile, each panel's query returns data (acceptance 37)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from libs import ids
from tests.deploy.metric_names import unknown_names
from tests.infrastructure.cache import Unprovided
from tests.infrastructure.prometheus import Prometheus, prometheus
from tests.infrastructure.up import Up
from tests.infrastructure.wish import done, messy

FOLDER = Path(__file__).parents[2] / "deploy" / "grafana"
DASHBOARDS = sorted((FOLDER / "dashboards").glob("*.json"))


def panels() -> Iterator[tuple[str, str]]:
    """Each panel's name and query."""
    for file in DASHBOARDS:
        for panel in json.loads(file.read_text())["panels"]:
            yield f"{file.stem}: {panel['title']}", panel["targets"][0]["expr"]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def watched(real: Up, work: Path) -> AsyncIterator[Prometheus]:
    """A Prometheus that has watched the six processes through two turns."""
    targets = {name: real.url(name).removeprefix("http://") for name in real.programs}
    try:
        async with prometheus(targets) as made:
            async with real.api() as api:
                # Twice: a rate is of what has grown since it was first seen.
                for _ in range(2):
                    await made.scraped_again()
                    await done(api, messy(work / ids.new()))
            await made.scraped_again()
            yield made
    except Unprovided as reason:
        pytest.skip(str(reason))


@pytest.mark.requirement("A37")
async def test_every_panel_has_data_after_a_turn(watched: Prometheus) -> None:
    # In one test: the profile is up once for all of them.
    found = {name: await watched.ask(expression) for name, expression in panels()}
    empty = [name for name, samples in found.items() if all(sample["value"][1] == "NaN" for sample in samples)]
    assert empty == []


@pytest.mark.parametrize("file", DASHBOARDS, ids=lambda file: str(file.stem))
def test_a_dashboard_is_whole(file: Path) -> None:
    made = json.loads(file.read_text())
    assert made["uid"] == f"suma-{file.stem}"
    assert len({panel["id"] for panel in made["panels"]}) == len(made["panels"])
    assert {panel["datasource"]["uid"] for panel in made["panels"]} == {"suma"}
    expressions = [target["expr"] for panel in made["panels"] for target in panel["targets"]]
    assert unknown_names(expressions) == set()
