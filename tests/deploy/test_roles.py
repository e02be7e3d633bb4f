"""Each service alone with its own roles, keys and folders, as docker-compose.yaml gives them to it."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg
import orjson
import pytest
import pytest_asyncio
from typing_extensions import override

from deploy.local.cache import Unprovided
from deploy.local.up import Servers, provision, servers, services
from libs import ids
from libs.budgets.schema import SCHEMA as BUDGETS
from libs.embedded.postgres import Postgres, ephemeral
from libs.runtime.shutdown import Shutdown
from services import catalog, settings, start, wiring
from services.settings import Process
from tests.infrastructure.parsers import parsed
from tests.infrastructure.wish import TIDY, done, files, messy
from tests.support.fork_server import forked, shared

ROOT = Path(__file__).parents[2]
IMAGE = {"SUMA_DATA_DIR": "/var/lib/suma", "SUMA_HOST": "0.0.0.0", "SUMA_LOG_FORMAT": "json"}
ELSEWHERE = {"otlp_url", "traces_ratio", "urls"}
"""Read by `services.__main__` for every process, and with the first call of another service."""
ALONE = {"SUMA_PORT": "0", "SUMA_CONFIG": os.devnull}
CHOSEN = {
    "SUMA_MODEL": "openai-compatible:mine",
    "SUMA_MODEL_URL": "http://127.0.0.1:9/v1",
    "SUMA_MODEL_OUTPUT": "tool",
    "SUMA_MODEL_OUTPUT_TOKENS": "4000",
    "SUMA_MODEL_INPUT_LETTERS": "10000",
    "SUMA_MODEL_FIRST_SECONDS": "10",
    "SUMA_MODEL_PAUSE_SECONDS": "10",
    "SUMA_MODEL_SECONDS": "60",
    "SUMA_MODEL_INPUT_PRICE": "1.5",
    "SUMA_MODEL_OUTPUT_PRICE": "6",
    "SUMA_AGENTS": '{"reader": {"tools": ["web.fetch"]}}',
    "SUMA_BUDGETS": '{"turn_dollars": 1}',
    "SUMA_GATEWAY_GRAFANA_URL": "http://localhost:3000",
    "SUMA_MCP_SERVERS": '{"tickets": {"url": "https://mcp.example.org/mcp"}}',
    "SUMA_A2A_AGENTS": '{"colleague": {"url": "https://agent.example.org"}}',
}
"""Every optional variable of deploy/env.example that becomes a setting."""
SIGNS = {"inbound": "gateway", "grants": "conversation_worker", "audit": "audit_worker", "a2a": "gateway"}
VERIFIES = {"inbound": "proofs.proven", "grants": "grants.verify", "internal": "internal.verify"}


@pytest.fixture(scope="module")
def compose(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    env = tmp_path_factory.mktemp("env") / ".env"
    subprocess.run([ROOT / "deploy" / "secrets.sh", env], check=True)
    with env.open("a") as file:
        file.writelines(f"{name}={value}\n" for name, value in CHOSEN.items())
    try:
        return dict(parsed("compose", ROOT / "docker-compose.yaml", env)["services"])
    except Unprovided as reason:
        pytest.skip(str(reason))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def real(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Servers]:
    """The servers of the production profile, with a user for each service."""
    try:
        async with servers(tmp_path_factory.mktemp("roles") / "servers") as made:
            yield made
    except Unprovided as reason:
        pytest.skip(str(reason))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def database() -> AsyncIterator[Postgres]:
    """A database that only the owner has used, for its migrations."""
    async with ephemeral({"fsync": "off"}) as server:
        provision(server)
        with only({"SUMA_DATABASE_OWNER_URL": server.dsn("suma_owner")}):
            assert "0001_tables.sql" in await start.migrate(settings.everything())
        yield server


@contextmanager
def only(given: Mapping[str, str]) -> Iterator[None]:
    """Use these settings alone."""
    before = dict(os.environ)
    for name in [name for name in before if name.startswith("SUMA_")]:
        del os.environ[name]
    os.environ.update({**ALONE, **given})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


async def asked(server: Postgres, role: str, *statements: str) -> Any:
    connection = await asyncpg.connect(server.dsn(role))
    try:
        async with connection.transaction():
            *before, last = statements
            for statement in before:
                await connection.execute(statement)
            return [row[0] for row in await connection.fetch(last)]
    finally:
        await connection.close()


REACHED = """
    select distinct n.nspname from pg_class c join pg_namespace n on n.oid = relnamespace
    where n.nspname !~ '^pg_|information' and c.relname <> 'migrations' and c.relkind in ('r', 'p')
      and (has_any_column_privilege(c.oid, 'select,insert,update') or has_table_privilege(c.oid, 'delete'))
"""


@pytest.mark.parametrize("service", catalog.NAMES)
async def test_role_reaches_only_the_tables_of_its_service(database: Postgres, service: str) -> None:
    used = {each.name for each in (BUDGETS, *catalog.schemas()) if service in each.users}
    assert set(await asked(database, f"suma_{service}", REACHED)) == used


CHANGE = orjson.dumps(
    {
        "tenants": "{t}",
        "items": [{"n": 1, "grp": "audit_worker", "id": "e", "tenant": "t", "key": "t:s"}],
        "changes": {"conversation": {"turn.put": [{"n": 1, "i": 1}]}},
    }
).decode()
REFUSED = (
    "select * from gateway.api_keys",
    "select * from gateway.web_sessions",
    "insert into conversation.messages default values",
    "select conversation.apply('{}')",
    "select * from bus.log",
    "delete from bus.offsets",
    "select bus.trim_log('{}', '{}', '{}', 1)",
    "set role suma_directory",
    f"select bus.commit('{CHANGE}')",
)


@pytest.mark.parametrize("statement", REFUSED)
async def test_audit_role_cannot_read_tables_of_other_roles(database: Postgres, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await asked(database, "suma_audit_worker", statement)


TENANT = "insert into gateway.tenants (tenant_id, name, created_at) values ('t', '', now()) returning tenant_id"
FOR_T = "select set_config('suma.tenants', '{t}', true)"


async def test_gateway_writes_identities_only_as_the_directory(database: Postgres) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await asked(database, "suma_gateway", FOR_T, TENANT)
    assert await asked(database, "suma_gateway", "set local role suma_directory", FOR_T, TENANT) == ["t"]


async def test_rights_come_back_when_roles_are_made_later(database: Postgres) -> None:
    rights = "select has_table_privilege('suma_audit_worker', 'audit.audit_events', 'select')"
    await asked(database, "suma_owner", "revoke all on audit.audit_events from suma_audit_worker")
    assert await asked(database, "postgres", rights) == [False]
    with only({"SUMA_DATABASE_OWNER_URL": database.dsn("suma_owner")}):
        assert await start.migrate(settings.everything()) == []
    assert await asked(database, "postgres", rights) == [True]


async def run(name: str, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a service that is expected to end by itself; return its code and its error output."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("SUMA_")}
    child = await (await shared()).begin("services", name, environment={**inherited, **ALONE, **environment})
    _, errors = await asyncio.wait_for(child.communicate(), 60)
    assert child.returncode is not None
    return child.returncode, errors.decode()


async def test_service_before_its_migration_names_the_command_to_run(real: Servers, tmp_path: Path) -> None:
    given = {**real.environment, **real.own["committee_worker"], "SUMA_DATA_DIR": str(tmp_path / "data")}
    code, said = await run("committee_worker", given)
    assert code == 1
    assert said.splitlines()[-1].startswith("suma: bus lacks 0001_tables.sql: run `python -m services migrate`")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"SUMA_KAFKA__SASL_PASSWORD": "wr0ng"}, "Kafka refuses the user suma_committee_worker"),
        (
            dict.fromkeys(("SUMA_KAFKA__SECURITY_PROTOCOL", "SUMA_KAFKA__SASL_USERNAME"), ""),
            "Kafka refuses a client that does not sign in: set SUMA_KAFKA__SECURITY_PROTOCOL",
        ),
    ],
)
async def test_service_that_kafka_refuses_ends_with_one_line(
    real: Servers, tmp_path: Path, change: Mapping[str, str], says: str
) -> None:
    given = {**real.environment, **real.own["committee_worker"], "SUMA_DATA_DIR": str(tmp_path / "data"), **change}
    code, said = await run("committee_worker", given)
    assert code == 2
    (line,) = [line for line in said.splitlines() if line.startswith("suma: ")]
    assert line.startswith(f"suma: {says}")
    assert "waiting for server" not in said
    assert "wr0ng" not in said


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def apart(
    real: Servers, compose: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Path]:
    """The six services after a turn, each with a data directory of its own and the folders that it mounts."""
    folder = tmp_path_factory.mktemp("apart")
    work = folder / "work"
    work.mkdir()
    for name in catalog.NAMES:
        home = folder / name
        (home / "public").mkdir(parents=True)
        for mounted in public(compose[name]):
            (folder / "public" / mounted).mkdir(parents=True, exist_ok=True, mode=0o700)
            (home / "public" / mounted).symlink_to(folder / "public" / mounted)
        own = {"SUMA_DATA_DIR": str(home / "data"), "SUMA_PUBLIC_KEYS": str(home / "public")}
        real.own[name] |= own
    # The client finds the owner's key in the gateway's directory.
    (folder / "suma").symlink_to(folder / "gateway" / "data")
    birth = forked(await shared())
    async with services(folder, real, roots=[work], birth=birth) as up, up.api() as api:
        place = messy(work / ids.new())
        ended = await done(api, place)
        assert (ended["data"]["state"], files(place)) == ("completed", TIDY)
        yield folder


async def test_service_without_its_rights_in_kafka_ends_with_one_line(
    apart: Path, real: Servers, tmp_path: Path
) -> None:
    other = {name: value for name, value in real.own["memory_service"].items() if "KAFKA" in name}
    given = {**real.environment, **real.own["committee_worker"], **other, "SUMA_DATA_DIR": str(tmp_path / "data")}
    code, said = await run("committee_worker", given)
    assert code == 2
    (line,) = [line for line in said.splitlines() if line.startswith("suma: ")]
    assert line.startswith("suma: Kafka refuses suma_memory_service: ")


def public(service: Mapping[str, Any]) -> dict[str, bool]:
    """Return the mounted folders of public keys, and whether the service may write there."""
    mounts = [mount for mount in service["volumes"] if mount["target"].startswith("/public/")]
    return {Path(mount["target"]).name: not mount.get("read_only", False) for mount in mounts}


async def test_private_halves_stay_with_the_service_that_signs(apart: Path) -> None:
    for name, service in SIGNS.items():
        holders = {path.parents[3].name for path in apart.glob(f"*/data/keys/{name}/*.key")}
        assert holders <= {service}
    assert {path.parents[3].name for path in apart.glob("*/data/keys/internal/*.key")} == wiring.CALLING
    assert list(apart.glob("public/**/*.key")) == []


async def test_services_mount_the_public_keys_they_sign_or_verify(apart: Path, compose: dict[str, Any]) -> None:
    for service in catalog.NAMES:
        mounted = public(compose[service])
        signs = {path.parent.name for path in apart.glob(f"{service}/data/keys/*/current")} & VERIFIES.keys()
        code = "".join(path.read_text() for path in (ROOT / "services" / service).rglob("*.py"))
        verifies = {name for name, call in VERIFIES.items() if call in code}
        assert {name for name, writes in mounted.items() if writes} == signs
        assert mounted.keys() == signs | verifies


def recording() -> tuple[Process, set[str]]:
    read: set[str] = set()
    whole = type(settings.everything())

    class Recording(whole):  # type: ignore[misc, valid-type]
        @override
        def __getattribute__(self, name: str) -> Any:
            if name in whole.model_fields:
                read.add(name)
            return super().__getattribute__(name)

    made: Process = Recording()
    read.clear()
    return made, read


@pytest.mark.parametrize("service", catalog.NAMES)
async def test_service_starts_with_its_variables_and_reads_each(
    apart: Path, real: Servers, compose: dict[str, Any], tmp_path: Path, service: str
) -> None:
    composed = compose[service]["environment"]
    ours = {**real.environment, **real.own[service]}
    assert composed.keys() >= ours.keys() - IMAGE.keys()
    roots = {"SUMA_ROOTS": str(tmp_path)} if "SUMA_ROOTS" in composed else {}
    given = {**composed, **ours, **roots, "SUMA_PORT": "0"}
    assert all(given.values())
    if "SUMA_MODEL_KEY_FILE" in composed:
        given["SUMA_MODEL_KEY_FILE"] = str(tmp_path / "model.key")
        (tmp_path / "model.key").write_text("sk-mine")
    with only(given):
        chosen, read = recording()
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    running = asyncio.ensure_future(start.alone(service, chosen, lambda _: ready.set_result(None), Shutdown()))
    try:
        await asyncio.wait({running, ready}, timeout=60, return_when=asyncio.FIRST_COMPLETED)
        assert ready.done(), running
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    named = {re.sub(r"^SUMA_", "", name).lower().partition("__")[0] for name in given}
    assert sorted(named - read - ELSEWHERE) == []
