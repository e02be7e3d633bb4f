"""The whole platform in this process behind a real socket, for clients of other protocols."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx
from fastapi import FastAPI

from libs.cache.redis import RedisDeltas, connect
from libs.database import Dsns
from libs.identity.keys import mint
from libs.models.ports import Model
from libs.runtime.host import host, prepare
from libs.runtime.platform import Platform
from libs.runtime.service import Service
from services import http_server
from services.gateway.identity.directory import Directory
from services.gateway.identity.local_key import ensure_local_key
from services.gateway.surfaces.context import Gateway
from tests import infrastructure
from tests.libs.cache.servers import running
from tests.support.platform import SERVICES, ControllablePolicy, build_platform, law, offline

NAMES = ("gateway", *SERVICES)


@dataclass(frozen=True)
class Stack:
    """A served platform. `root` may hold workspaces; `key` is the owner's."""

    url: str
    key: str
    root: Path
    platform: Platform
    gateway: Gateway

    def api(self, key: str | None = None) -> httpx.AsyncClient:
        """Return a client of the REST API."""
        headers = {"Authorization": f"Bearer {key or self.key}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=60, trust_env=False)

    async def stranger(self, tenant: str = "elsewhere") -> str:
        """Return a key of another tenant, with every scope."""
        text, stored = mint(tenant, "stranger", scopes=["*"])
        directory = Directory(self.platform.database)
        await directory.put_tenant(tenant)
        await directory.put_key(stored, name="test", by="test")
        return text

    def folder(self, name: str, **files: str) -> Path:
        """Create a workspace with these files, each `name_suffix="content"`."""
        where = self.root / name
        where.mkdir()
        for file, content in files.items():
            stem, _, suffix = file.rpartition("_")
            (where / f"{stem}.{suffix}").write_text(content)
        return where


@asynccontextmanager
async def served(
    where: Dsns,
    folder: Path,
    *,
    settings: dict[str, Any] | None = None,
    model: Model | None = None,
    names: tuple[str, ...] = NAMES,
    **ports: Any,
) -> AsyncIterator[Stack]:
    """Run and serve the platform on this database, with the real policy and the offline model or another."""
    owner = mint("local", "owner", scopes=["*"])[0]
    chosen = {"gateway": {"local_key": owner, **(settings or {})}}
    given: dict[str, Any] = {
        "settings": chosen,
        "policy": ControllablePolicy(await law()),
        "model": model or offline(),
        **ports,
    }
    with running() as redis:
        async with (
            connect(redis.url) as cache,
            build_platform(where, folder, names=names, deltas=RedisDeltas(cache), **given) as (platform, services),
            _served(platform, services, owner, folder) as stack,
        ):
            yield stack


@asynccontextmanager
async def _served(platform: Platform, services: list[Service], owner: str, folder: Path) -> AsyncIterator[Stack]:
    await prepare(platform, services)
    async with host(platform, services, pace=infrastructure.PACE):
        await ensure_local_key(platform, owner)
        assert services[0].api is not None
        app = cast("FastAPI", services[0].api.app)
        with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as door:
            async with http_server.serving(app, door):
                url = http_server.url_of(door)
                yield Stack(url, owner, folder / "root", platform, app.state.surfaces)
