"""Starting and stopping as people do: twice, on a port in use, in the wrong folder, with Ctrl-C, with kill -9."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from deploy.local.ports import free_port
from libs.embedded import datadir
from tests.infrastructure.wish import get
from tests.journeys.installation import SECONDS, Installation, Process, installation, readiness
from tests.journeys.terminal import Terminal
from tests.journeys.test_command import mess, names


@pytest_asyncio.fixture
async def own(tmp_path: Path) -> AsyncIterator[Installation]:
    """A installation that the test may break."""
    async with installation(tmp_path) as made:
        yield made


async def test_restart_after_ctrl_c_keeps_all_data(own: Installation) -> None:
    own.by_command = True
    await own.start()
    key = own.directory.key()
    async with own.api() as api:
        session = (await api.post("/v1/sessions", json={"title": "kept"})).json()["session_id"]
    assert await own.end(signal.SIGINT) == 0
    assert own.servers() == []
    assert own.directory.owner() is None

    await own.start()
    assert own.directory.key() == key
    async with own.api() as api:
        assert (await get(api, f"/v1/sessions/{session}"))["title"] == "kept"
        await readiness(api)
    assert await own.end(signal.SIGTERM) == 0


async def test_closing_the_terminal_stops_the_servers(own: Installation) -> None:
    with Terminal(own, "up") as terminal:
        await terminal.answer("is ready at", None)
        assert own.servers()
        terminal.close()
        assert await terminal.end() == 0
    assert own.servers() == []
    assert own.directory.owner() is None


@pytest.mark.requirement("A10", "A32")
async def test_restart_after_kill_continues_the_open_turn(own: Installation) -> None:
    for name, text in {"a.txt": "same", "b.txt": "same", "c.mp3": "la"}.items():
        (own.folder / name).write_text(text)
    await own.start()
    async with own.api() as api:
        session = (await api.post("/v1/sessions", json={"root": str(own.folder)})).json()["session_id"]
        said = (await api.post(f"/v1/sessions/{session}/messages", json={"text": "remove duplicates"})).json()
        await seen(api, session, "approval.requested")
    assert await own.end(signal.SIGKILL) == -signal.SIGKILL
    assert own.servers(), "the servers of a killed platform are left running"

    await own.start()
    async with own.api() as api:
        await approve_all(api, session, said["turn_id"])
    assert sorted(path.name for path in own.folder.glob("[!.]*")) == ["b.txt", "c.mp3"]
    assert await own.end(signal.SIGTERM) == 0
    assert own.servers() == [], "servers that were taken over are stopped like our own"


async def test_only_a_death_keeps_the_next_start_from_fusing(own: Installation) -> None:
    await own.start()
    assert await own.end(signal.SIGTERM) == 0
    await own.start()
    # A chain that takes too long on a busy machine is left to its lanes.
    assert await anext((count async for count in fused(own, tries=30) if count), 0)
    assert await own.end(signal.SIGKILL) == -signal.SIGKILL
    await own.start()
    assert [count async for count in fused(own, tries=2)] == [0, 0]


async def fused(own: Installation, *, tries: int) -> AsyncIterator[float]:
    """Yield after each task how many events were handled in the commit of their cause."""
    async with own.api() as api:
        for _ in range(tries):
            session = (await api.post("/v1/sessions", json={"root": str(own.folder)})).json()["session_id"]
            await api.post(f"/v1/sessions/{session}/messages", json={"text": "list the files"})
            await seen(api, session, "turn.ended")
            lines = (await api.get("/metrics")).text.splitlines()
            yield sum(float(line.split()[-1]) for line in lines if line.startswith("suma_bus_fused_total"))


@pytest.mark.requirement("A10", "A22b", "P1", "P2")
async def test_repeated_kills_lose_and_repeat_no_event(own: Installation) -> None:
    for name in ("a", "b", "c", "d"):
        (own.folder / f"{name}.txt").write_text("same" if name < "c" else name)
    own.extra = {"SUMA_PORT": str(free_port())}
    await own.start()
    job = await own.begin("services.cli", "run", "remove duplicates and sort by type", *yes_in(own.folder))
    events: list[dict[str, Any]] = []
    for moment in ("turn.started", "step.changed", "approval.requested", "workspace.changed"):
        await until(job, moment, events)
        await own.end(signal.SIGKILL)
        await own.start()
    await until(job, "turn.ended", events)
    assert await job.wait() == 0
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert [event["type"] for event in events].count("turn.ended") == 1
    assert sorted(path.name for path in (own.folder / "Documents").iterdir()) == ["b.txt", "c.txt", "d.txt"]


async def test_second_start_names_the_running_platform(live: Installation) -> None:
    said = await live.run("services")
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert live.url in said.err
    assert "already running" in said.err


async def test_used_port_is_one_line_and_leaves_no_server(own: Installation) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        said = await own.run("services", SUMA_PORT=str(port))
    assert (said.code, said.err) == (2, f"suma: port {port} on 127.0.0.1 is in use: set SUMA_PORT to another one\n")
    assert own.servers() == []


async def test_folder_of_another_program_is_left_alone(own: Installation) -> None:
    own.data.mkdir()
    (own.data / "thesis.odt").write_text("years of work")
    said = await own.run("services")
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert "another program" in said.err
    assert [path.name for path in own.data.iterdir()] == ["thesis.odt"]


async def test_a_wrong_setting_is_one_line_before_anything_starts(own: Installation) -> None:
    own.by_command = True
    said = await own.run("services", SUMA_PORT="http")
    assert said.code == 2
    assert said.err.startswith("suma: SUMA_PORT: ")
    assert said.err.count("\n") == 1
    assert not own.data.exists()


async def test_memory_port_in_use_is_reported_and_the_start_succeeds(own: Installation) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        own.extra = {"SUMA_MEMORY_PORT": str(other.getsockname()[1])}
        await own.start()
        async with own.api() as api:
            await readiness(api)


async def test_copy_of_a_stopped_data_directory_is_a_backup(own: Installation) -> None:
    await own.start()
    folder = mess(own.folder / "kept")
    before = names(folder)
    assert (await own.suma("run", "sort by type", "--in", str(folder), "--yes")).code == 0
    await own.end(signal.SIGTERM)
    backup = own.data.with_name("backup")
    assert await (await asyncio.create_subprocess_exec("cp", "-a", own.data, backup)).wait() == 0
    shutil.rmtree(own.data)
    restored = Installation(backup, own.folder)
    await restored.start()
    undone = await restored.suma("rollback", "--yes")
    await restored.end(signal.SIGTERM)
    assert (undone.code, names(folder)) == (0, before)


async def test_second_platform_with_usual_settings_notes_nothing(own: Installation) -> None:
    with ExitStack() as stack:
        with suppress(OSError):  # or another platform of this machine has it
            stack.enter_context(closing(socket.create_server(("127.0.0.1", 9696))))
        environment = {name: value for name, value in own.environment().items() if name != "SUMA_MEMORY_PORT"}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "services", env=environment, stdout=PIPE, stderr=PIPE
        )
        assert process.stdout is not None
        async with asyncio.timeout(SECONDS):
            assert b"is ready at" in await process.stdout.readline()
            process.terminate()
            said, _ = await process.communicate()
    assert b"note" not in said


@pytest.mark.requirement("A28a")
async def test_every_port_refuses_a_foreign_host_and_origin(own: Installation) -> None:
    own.extra = {"SUMA_MEMORY_PORT": (port := str(free_port()))}
    await own.start()
    for url in (own.url, f"http://127.0.0.1:{port}"):
        async with httpx.AsyncClient(base_url=url, timeout=60) as http:
            for path in ("/metrics", "/readyz", "/healthz", "/recall"):
                assert (await http.get(path, headers={"Host": "evil.example"})).status_code == 421
                for origin in ("https://evil.example", "http://[bad"):
                    assert (await http.get(path, headers={"Origin": origin})).status_code == 403
            assert (await http.get("/metrics")).status_code == 200


@pytest.mark.requirement("A17")
async def test_death_of_postgres_ends_the_platform_in_order(own: Installation) -> None:
    await own.start()
    (server,) = (own.data / "postgres" / "postmaster.pid").read_text().split("\n")[:1]
    async with own.api() as api:
        sending = [asyncio.ensure_future(api.post("/v1/sessions/message", json={"text": "hello"})) for _ in range(60)]
        await asyncio.wait(sending, return_when=asyncio.FIRST_COMPLETED)
        os.kill(int(server), signal.SIGKILL)
        answers = [await answer for answer in sending]
    assert {answer.status_code for answer in answers} <= {202, 503}
    assert all("retry-after" in answer.headers for answer in answers if answer.status_code == 503)
    assert own.process is not None
    async with asyncio.timeout(SECONDS):
        await own.process.communicate()
    # At most one renewal falls into the time until the end.
    assert own.complaints.count("could not renew leases") <= 1
    assert "request crashed" not in own.complaints


async def test_metrics_name_no_folder(live: Installation) -> None:
    async with httpx.AsyncClient(base_url=live.url, timeout=60) as http:
        told = (await http.get("/metrics")).text
    assert 'suma_disk_free_ratio{place="root-1"}' in told
    assert str(live.folder) not in told


async def test_single_service_uses_a_live_platforms_servers(live: Installation) -> None:
    alone = Installation(live.data, live.folder, by_command=True)
    await alone.start("committee_worker")
    assert (await alone.end(signal.SIGTERM)) == 0
    async with live.api() as api:
        await readiness(api)


async def test_service_without_a_platform_reports_the_missing_data_directory(own: Installation) -> None:
    said = await own.run("services", "committee_worker")
    assert said.code == 2
    assert "no data directory exists" in said.err


async def test_an_unknown_service_is_answered_with_the_known_ones(own: Installation) -> None:
    own.by_command = True
    said = await own.run("services", "gatway")
    assert said.code == 2
    assert "committee_worker" in said.err


async def test_data_directory_and_key_are_private(live: Installation) -> None:
    assert live.data.stat().st_mode & 0o777 == 0o700
    assert live.directory.key_file.stat().st_mode & 0o777 == 0o600
    assert datadir.existing(live.data).key() == live.directory.key()


def yes_in(folder: Path) -> Sequence[str]:
    return ("--in", str(folder), "--yes", "--json")


async def until(job: Process, type: str, events: list[dict[str, Any]]) -> None:
    """Keep what a job tells, up to the next event of this type."""
    assert job.stdout is not None
    async with asyncio.timeout(60):
        async for line in job.stdout:
            events.append(json.loads(line))
            if events[-1]["type"] == type:
                return


async def seen(api: httpx.AsyncClient, session: str, type: str) -> dict[str, Any]:
    """The first event of this type, as it comes; the turn may not end without one."""
    async with api.stream("GET", f"/v1/sessions/{session}/events") as stream:
        async for line in stream.aiter_lines():
            if line in (f"event: {type}", "event: turn.ended"):
                break
    page = (await api.get(f"/v1/sessions/{session}/events", params={"stream": "false"})).json()
    found = [dict(event) for event in page["events"] if event["type"] == type]
    assert found, page
    return found[0]


async def approve_all(api: httpx.AsyncClient, session: str, turn: str) -> None:
    """Say yes to whatever is asked until the turn has ended."""
    params = {"until": turn}
    async with api.stream("GET", f"/v1/sessions/{session}/events", params=params) as stream:
        async for line in stream.aiter_lines():
            if line != "event: approval.requested":
                continue
            for question in (await get(api, "/v1/approvals", session=session))["approvals"]:
                answer = {"verdict": "approve", "digest": question["digest"]}
                await api.post(f"/v1/approvals/{question['approval_id']}", json=answer)
