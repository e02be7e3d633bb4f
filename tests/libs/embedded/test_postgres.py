from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from libs.embedded.daemon import SOCKET_PATH_LIMIT, NotOurs, ServerFailed, command, socket_directory
from libs.embedded.postgres import Postgres, Role, status
from tests.libs.embedded.conftest import Killed

KILLED_WHILE_RUNNING = """
    from libs.embedded.postgres import Postgres
    async def main(data):
        async with Postgres(data):
            die()
"""


@asynccontextmanager
async def connection(
    server: Postgres, role: Role = "suma_app", database: str = "suma"
) -> AsyncIterator[asyncpg.Connection]:
    connected = await asyncpg.connect(server.dsn(role, database))
    try:
        yield connected
    finally:
        await connected.close()


async def ask(server: Postgres, question: str, role: Role = "suma_app", database: str = "suma") -> object:
    async with connection(server, role, database) as connected:
        return await connected.fetchval(question)


def postmaster(data: Path) -> int:
    return int((data / "postgres/postmaster.pid").read_text().splitlines()[0])


class TestProvisioned:
    async def test_suma_roles_are_under_row_level_security(self, server: Postgres) -> None:
        async with connection(server) as connected:
            roles = await connected.fetch(
                "select rolname, rolsuper or rolbypassrls or rolcreaterole or rolcreatedb as above, rolcanlogin"
                " from pg_roles where rolname like 'suma%' order by 1"
            )
        assert [tuple(role) for role in roles] == [
            ("suma_app", False, True),
            ("suma_bus", False, True),
            ("suma_owner", False, True),
        ]

    async def test_application_role_can_create_nothing(self, server: Postgres) -> None:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await ask(server, "create schema mine")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await ask(server, "create table public.mine ()")

    async def test_application_role_can_assume_no_other_role(self, server: Postgres) -> None:
        for other in ("suma_owner", "suma_bus", "postgres"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await ask(server, f"set role {other}")

    async def test_owner_can_create_a_schema_for_the_bus_role(self, server: Postgres) -> None:
        async with connection(server, "suma_owner") as connected, connected.transaction():
            await connected.execute("create schema trial authorization suma_bus; drop schema trial")

    async def test_vector_extension_is_installed(self, server: Postgres) -> None:
        assert await ask(server, "select '[1,2]'::public.vector <-> '[1,4]'") == 2

    async def test_collation_is_independent_of_the_machine(self, server: Postgres) -> None:
        assert await ask(server, "select upper('é') || ('Z' < 'a')") == "Étrue"


class TestWalls:
    async def test_no_port_is_open(self, server: Postgres) -> None:
        assert await ask(server, "show listen_addresses") == ""

    async def test_socket_is_in_a_private_folder(self, server: Postgres) -> None:
        folder = Path(str(await ask(server, "select current_setting('unix_socket_directories')", "postgres")))
        assert folder.stat().st_mode & 0o077 == 0

    async def test_a_commit_is_on_disk_before_it_is_answered(self, server: Postgres) -> None:
        assert await ask(server, "show fsync") == "on"
        assert await ask(server, "show synchronous_commit") == "on"

    async def test_server_log_contains_no_user_text(self, started_before: Path) -> None:
        async with Postgres(started_before) as server:
            with pytest.raises(asyncpg.UndefinedTableError):
                await ask(server, "select 'my diary' from nowhere")
        assert "diary" not in (started_before / "postgres.log").read_text()

    async def test_the_server_is_not_root(self, started_before: Path) -> None:
        async with Postgres(started_before):
            assert Path(f"/proc/{postmaster(started_before)}").stat().st_uid != 0

    async def test_variables_meant_for_another_server_change_nothing(
        self, started_before: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PGPORT", "6543")
        monkeypatch.setenv("PGDATA", "/nowhere")
        async with Postgres(started_before) as server:
            assert await ask(server, "show port") == "5432"


class TestLife:
    async def test_rows_survive_a_restart(self, data: Path) -> None:
        async with Postgres(data) as server:
            await ask(server, "create table public.kept as select 7 as value", "postgres")
        async with Postgres(data) as server:
            assert await ask(server, "select value from public.kept", "postgres") == 7

    async def test_closing_the_context_stops_the_server(self, started_before: Path) -> None:
        async with Postgres(started_before):
            pid = postmaster(started_before)
        assert not command(pid)

    async def test_a_server_that_dies_is_noticed(self, started_before: Path) -> None:
        async with Postgres(started_before) as server:
            os.kill(postmaster(started_before), signal.SIGQUIT)
            await server.ended()

    async def test_a_start_that_fails_says_why_in_one_line(self, started_before: Path) -> None:
        with pytest.raises(ServerFailed) as failure:
            async with Postgres(started_before, settings={"shared_buffers": "much"}):
                pass
        assert "shared_buffers" in str(failure.value)
        assert "\n" not in str(failure.value)

    async def test_postgres_starts_in_a_path_too_long_for_a_socket(self, tmp_path: Path) -> None:
        data = tmp_path / ("long" * 30) / ("er" * 30)
        data.mkdir(parents=True)
        async with Postgres(data) as server:
            assert await ask(server, "select 1") == 1
        folder = socket_directory(data)
        assert len(str(folder)) < SOCKET_PATH_LIMIT
        folder.rmdir()

    async def test_a_socket_folder_that_others_may_enter_is_refused(self, data: Path) -> None:
        (data / "sockets").mkdir()
        (data / "sockets").chmod(0o777)
        with pytest.raises(NotOurs):
            async with Postgres(data):
                pass


class TestWhatItSaysOfItself:
    BEFORE = "123\n/data/postgres\n1763\n5432\n\n\n 12345 6789\n"
    AFTER = "123\n/data/postgres\n1763\n5432\n/data/sockets\n\n 12345 6789\n"

    def test_complete_state_file_is_read(self) -> None:
        assert status(f"{self.AFTER}starting\n".splitlines(), 123) == "starting"
        assert status(f"{self.AFTER}ready   \n".splitlines(), 123) == "ready"

    def test_state_is_empty_for_another_process_or_unwritten_file(self) -> None:
        assert status(f"{self.AFTER}ready   \n".splitlines(), 124) == ""
        assert status(self.AFTER.splitlines(), 123) == ""
        assert status([], 123) == ""

    @pytest.mark.parametrize(
        "torn",
        [
            BEFORE + AFTER[len(BEFORE) :],  # read in two pieces, around the moment at which the sockets were written
            f"{AFTER}readting\n",
            f"{AFTER}star",
        ],
    )
    def test_partly_written_state_file_is_ignored(self, torn: str) -> None:
        assert status(torn.splitlines(), 123) == ""


class TestAfterAKill:
    async def test_a_killed_platforms_server_is_adopted_and_stopped_at_exit(
        self, started_before: Path, killed: Killed
    ) -> None:
        killed(KILLED_WHILE_RUNNING)
        orphan = postmaster(started_before)
        assert command(orphan), "the server outlives its platform"
        async with Postgres(started_before) as server:
            assert postmaster(started_before) == orphan
            assert await ask(server, "select 1") == 1
        assert not command(orphan)

    async def test_a_server_that_was_only_starting_is_adopted_too(self, started_before: Path, killed: Killed) -> None:
        killed("""
            from libs.embedded.postgres import Postgres
            async def main(data):
                starting = asyncio.create_task(Postgres(data).__aenter__())
                while not starting.done() and not (data / "postgres/postmaster.pid").exists():
                    await asyncio.sleep(0)
                die()
        """)
        async with Postgres(started_before) as server:
            assert await ask(server, "select 1") == 1

    async def test_kill_during_initdb_leaves_no_partial_cluster(self, data: Path, killed: Killed) -> None:
        killed("""
            from libs.embedded.postgres import Postgres
            async def main(data):
                starting = asyncio.create_task(Postgres(data).__aenter__())
                while not starting.done() and not list(data.glob("postgres.new-*/global")):
                    await asyncio.sleep(0)
                die()
        """)
        async with Postgres(data) as server:
            assert await ask(server, "select 1") == 1

    async def test_partial_cluster_is_deleted_at_the_next_start(self, started_before: Path) -> None:
        (started_before / "postgres.new-x/base").mkdir(parents=True)
        async with Postgres(started_before):
            assert not list(started_before.glob("postgres.new-*"))

    async def test_the_server_killed_as_well_recovers(self, started_before: Path, killed: Killed) -> None:
        killed(KILLED_WHILE_RUNNING)
        os.kill(postmaster(started_before), signal.SIGKILL)
        async with Postgres(started_before) as server:
            assert await ask(server, "select 1") == 1

    async def test_unrelated_process_with_the_recorded_id_is_left_alone(
        self, started_before: Path, killed: Killed
    ) -> None:
        killed(KILLED_WHILE_RUNNING)
        os.kill(postmaster(started_before), signal.SIGKILL)
        stranger = os.getppid()
        lock = started_before / "postgres/postmaster.pid"
        lock.write_text("\n".join([str(stranger), *lock.read_text().splitlines()[1:]]) + "\n")
        async with Postgres(started_before) as server:
            assert await ask(server, "select 1") == 1
        assert command(stranger)

    async def test_start_succeeds_with_an_empty_lock_file(self, started_before: Path) -> None:
        (started_before / "postgres/postmaster.pid").touch()
        async with Postgres(started_before) as server:
            assert await ask(server, "select 1") == 1

    async def test_unreachable_orphan_is_replaced(self, started_before: Path, killed: Killed) -> None:
        killed(KILLED_WHILE_RUNNING)
        orphan = postmaster(started_before)
        (socket_directory(started_before) / ".s.PGSQL.5432").unlink()
        async with Postgres(started_before) as server:
            assert await ask(server, "select 1") == 1
        assert not command(orphan)


class TestDatabases:
    async def test_database_is_created_as_a_copy_of_a_template(self, server: Postgres) -> None:
        await server.create_database("original")
        await ask(server, "create table public.told as select 'once' as value", "suma_owner", "original")
        await server.create_database("copy-of-it", template="original")
        assert await ask(server, "select value from public.told", "suma_owner", "copy-of-it") == "once"
        await server.drop_database("copy-of-it")
        await server.drop_database("original")

    async def test_dropping_a_database_disconnects_its_clients(self, server: Postgres) -> None:
        await server.create_database("busy")
        async with connection(server, database="busy") as connected:
            await server.drop_database("busy")
            with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, ConnectionError)):
                await connected.fetchval("select 1")
