"""A service that starts alone by URL, under an orchestrator: servers that are unavailable, refuse, or are not named."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from libs.database import Dsns
from libs.embedded.postgres import Postgres
from libs.embedded.redis import Redis
from tests import infrastructure
from tests.journeys.installation import Installation, installation


def by_url(where: Dsns, redis: Redis) -> dict[str, str]:
    urls = {"DATABASE_URL": where.app, "DATABASE_BUS_URL": where.bus, "DATABASE_OWNER_URL": where.owner}
    return {f"SUMA_{name}": url for name, url in (urls | {"REDIS_URL": redis.url}).items()}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def redis(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Redis]:
    async with Redis(tmp_path_factory.mktemp("redis")) as running:
        yield running


@pytest_asyncio.fixture
async def own(tmp_path: Path, where: Dsns, redis: Redis) -> AsyncIterator[Installation]:
    """A service's environment: its own database, and Redis."""
    async with installation(tmp_path, **by_url(where, redis)) as made:
        yield made


def changed(own: Installation, **settings: str) -> Installation:
    own.extra = {**own.extra, **settings}
    return own


async def test_start_reports_that_it_waits_for_a_late_server(own: Installation, tmp_path: Path) -> None:
    servers = tmp_path / "servers"
    servers.mkdir(mode=0o700)
    late = Postgres(servers)
    changed(own, **by_url(infrastructure.dsns(late, "suma"), Redis(servers)))
    process = await own.begin("services", "committee_worker")
    assert process.stderr is not None
    assert b"waiting for server" in await process.stderr.readline()
    async with late, Redis(servers):
        assert process.stdout is not None
        assert b"committee_worker is ready at" in await asyncio.wait_for(process.stdout.readline(), 60)
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_unavailable_server_ends_the_start_and_is_named(own: Installation, tmp_path: Path) -> None:
    away = f"postgresql://suma_app@/suma?host={tmp_path}"
    said = await changed(own, SUMA_DATABASE_URL=away, SUMA_START_SECONDS="0.3").run("services", "committee_worker")
    assert said.code == 1
    assert "suma: PostgreSQL did not answer within 0.3 s: " in said.err


async def test_unavailable_redis_ends_the_start_and_is_named(own: Installation, tmp_path: Path) -> None:
    away = f"unix://{tmp_path}/none.sock"
    said = await changed(own, SUMA_REDIS_URL=away, SUMA_START_SECONDS="0.3").run("services", "committee_worker")
    assert said.code == 1
    assert "suma: Redis did not answer within 0.3 s: " in said.err


async def test_missing_database_fails_without_waiting(own: Installation, where: Dsns) -> None:
    said = await changed(own, SUMA_DATABASE_URL=where.app.replace("@/t", "@/no")).run("services", "committee_worker")
    assert said.code == 2
    assert said.err.startswith("suma: database ")
    assert said.err.endswith("does not exist\n")


async def test_unprepared_database_fails_the_start_with_the_missing_extension(
    own: Installation, server: Postgres, redis: Redis
) -> None:
    async with infrastructure.fresh_database(server, "template0") as bare:
        changed(own, **by_url(bare, redis))
        said = await own.run("services", "committee_worker")
    assert said.code == 2
    assert "the database lacks the extension vector: prepare it with deploy/postgres/" in said.err


async def test_a_url_that_was_forgotten_is_named(own: Installation) -> None:
    said = await changed(own, SUMA_REDIS_URL="").run("services", "committee_worker")
    assert said.code == 2
    assert said.err.startswith("suma: set SUMA_REDIS_URL: no data directory exists")


async def test_readable_signing_key_fails_the_start(own: Installation) -> None:
    (own.data / "keys" / "internal").mkdir(parents=True, mode=0o700)
    (own.data / "format").write_text("1\n")
    (own.data / "keys").chmod(0o755)
    said = await own.run("services", "committee_worker")
    assert said.code == 2
    assert "others may use it; run `chmod go-rwx " in said.err


async def test_a_key_given_to_the_gateway_is_the_owner_s(own: Installation) -> None:
    key = f"suma_{'a' * 16}_{'b' * 52}"
    await changed(own, SUMA_GATEWAY__LOCAL_KEY=key).start("gateway")
    assert not own.directory.key_file.exists()
