"""Journeys share one live installation where they can, since a start costs seconds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio

from deploy.local.runner_image import RUNNER
from libs.sandbox import NoSandbox, Sandboxes
from libs.sandbox.bubblewrap import Bubblewrap
from tests.conformance.sandbox.conftest import docker_engine, rig  # noqa: F401 -- fixtures
from tests.infrastructure.vendor import Vendor, vendor
from tests.journeys.installation import Installation, installation


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def live(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Installation]:
    """A running platform, for tests that leave it as it is."""
    async with installation(tmp_path_factory.mktemp("suma")) as made:
        await made.start()
        yield made


@pytest_asyncio.fixture
async def there() -> AsyncIterator[Vendor]:
    """A vendor of models, which plays what the test gives it."""
    async with vendor() as running:
        yield running


@pytest_asyncio.fixture
async def in_bubblewrap(there: Vendor) -> Mapping[str, str]:
    """Return the settings of a platform that thinks with this vendor and runs programs in bubblewrap."""
    try:
        async with Sandboxes(Bubblewrap(RUNNER / "runner.py")) as tried:
            await tried.probe()
    except NoSandbox as reason:
        pytest.skip(f"no bubblewrap: {reason}")
    model = {"SUMA_MODEL": "openai:toy", "SUMA_MODEL_URL": there.url, "SUMA_MODEL_KEY": "k"}
    return {**model, "SUMA_SANDBOX": "bubblewrap"}
