"""Folders belong to tenants: over HTTP, through every service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from libs.database import Dsns
from libs.identity.keys import mint
from libs.runtime.platform import Platform
from services.gateway.identity.directory import Directory
from tests.infrastructure.wish import get, post
from tests.support import platform
from tests.support.platform import SERVICES, WITHIN, RunningPlatform, plan

LIST = plan(("manage-files.list", {"path": "."}))


async def admitted(platform: Platform, tenant: str) -> str:
    """A key of a tenant, with every scope."""
    text, kept = mint(tenant, "ann", scopes=["*"])
    directory = Directory(platform.database)
    await directory.put_tenant(tenant)
    await directory.put_key(kept, name="test", by="test")
    return text


@asynccontextmanager
async def two_tenants(where: Dsns, folder: Path) -> AsyncIterator[tuple[RunningPlatform, dict[str, httpx.AsyncClient]]]:
    """A platform with a root for `local` and one for `acme`, and a client of each."""
    key = mint("local", "owner", scopes=["*"])[0]
    roots = [folder / "root", f"acme={folder / 'acme'}"]
    for name in ("root/ours", "acme/theirs", "nobodys"):
        (folder / name).mkdir(parents=True)
        (folder / name / "secret.txt").write_text(name)
    settings: dict[str, Any] = {
        "gateway": {"local_key": key, "command_wait": WITHIN},
        "tool_executor": {"roots": roots},
    }
    model = platform.scripted_model(LIST, LIST, LIST)
    running = platform.run_platform(where, folder, model=model, names=(*SERVICES, "gateway"), settings=settings)
    async with running as at, at.platform.clients["gateway"]() as ours, at.platform.clients["gateway"]() as theirs:
        for client, text in ((ours, key), (theirs, await admitted(at.platform, "acme"))):
            client.headers.update({"Authorization": f"Bearer {text}", "Host": "localhost"})
        yield at, {"local": ours, "acme": theirs}


async def outcome(at: RunningPlatform, http: httpx.AsyncClient, root: Path) -> str:
    """How a look at a folder ended, as its owner reads it, without the folder's own path."""
    session = (await post(http, "/v1/sessions", {"root": str(root)}))["session_id"]
    await post(http, f"/v1/sessions/{session}/messages", {"text": "what is here?"})
    async with asyncio.timeout(WITHIN):
        while not (end := await _end(http, session)):
            await at.platform.bus.waiting()
    return str(end).replace(str(root), "FOLDER")


async def _end(http: httpx.AsyncClient, session: str) -> dict[str, Any] | None:
    (turn,) = (await get(http, f"/v1/sessions/{session}/history"))["turns"]
    return {name: turn[name] for name in ("state", "reason", "detail", "answer")} if turn["ended_at"] else None


@pytest.mark.requirement("P8")
async def test_a_root_of_another_tenant_looks_like_no_root(where: Dsns, tmp_path: Path) -> None:
    async with two_tenants(where, tmp_path) as (at, client):
        nobodys = await outcome(at, client["acme"], tmp_path / "nobodys")
        assert "ROOT_NOT_ALLOWED" in nobodys
        assert await outcome(at, client["acme"], tmp_path / "root/ours") == nobodys
        assert await outcome(at, client["local"], tmp_path / "acme/theirs") == nobodys


@pytest.mark.requirement("P8")
async def test_each_tenant_works_in_its_own_root(where: Dsns, tmp_path: Path) -> None:
    async with two_tenants(where, tmp_path) as (at, client):
        assert "completed" in await outcome(at, client["local"], tmp_path / "root/ours")
        assert "completed" in await outcome(at, client["acme"], tmp_path / "acme/theirs")


async def test_status_names_the_callers_tenant(where: Dsns, tmp_path: Path) -> None:
    async with two_tenants(where, tmp_path) as (_, client):
        assert [(await get(client[name], "/status"))["tenant"] for name in client] == ["local", "acme"]
