"""Prometheus and its tool, as Debian's package brings them."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from deploy.local.cache import Unprovided
from deploy.local.served import Served

SETTLE_SECONDS, LOOK_SECONDS = 12.0, 0.5
"""Lag and parked events are measured every ten seconds."""
OFTEN = "2s"
"""What is scraped here has a minute to live, not a month."""


def program(name: str) -> str:
    """`prometheus` or `promtool`. Raises Unprovided."""
    found = shutil.which(name)
    if found is None:
        raise Unprovided(f"{name} comes with the package `prometheus`, which is not installed here")
    return found


@asynccontextmanager
async def prometheus(targets: Mapping[str, str]) -> AsyncIterator[Prometheus]:
    """A server that asks these targets (service → host:port) every two seconds.

    Raises:
        Unprovided: it is not installed here.
    """
    command = program("prometheus")
    with tempfile.TemporaryDirectory(prefix="suma-prometheus-") as place:
        config = Path(place) / "prometheus.yml"
        config.write_text(yaml.safe_dump(_config(targets)))
        options = (f"--config.file={config}", f"--storage.tsdb.path={place}/data", "--log.level=warn")
        server = Served((command, *options, "--web.listen-address=127.0.0.1:{port}"), "/-/ready", Path(place))
        try:
            await server.start()
            async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=30) as http:
                yield Prometheus(http, len(targets))
        finally:
            await server.stop()


class Prometheus:
    """What it has seen."""

    def __init__(self, http: httpx.AsyncClient, targets: int) -> None:
        self._http, self._targets = http, targets

    async def ask(self, expression: str) -> list[dict[str, Any]]:
        """The vector that an expression has now; an empty one where there is no data."""
        answer = (await self._http.get("/api/v1/query", params={"query": expression})).json()
        assert answer["status"] == "success", answer
        return list(answer["data"]["result"])

    async def scraped_again(self, *, after: float = 0.0) -> None:
        """Return once every target has been scraped, `after` so many seconds."""
        seen = time.time() + after
        async with asyncio.timeout(120):
            while len(await self.ask(f"timestamp(up == 1) > {seen}")) < self._targets:
                await asyncio.sleep(LOOK_SECONDS)


def _config(targets: Mapping[str, str]) -> dict[str, Any]:
    groups = [{"targets": [where], "labels": {"service": service}} for service, where in targets.items()]
    return {
        "global": {"scrape_interval": OFTEN, "scrape_timeout": OFTEN},
        "scrape_configs": [{"job_name": "suma", "static_configs": groups}],
    }
