"""The doctor: what it finds on a machine, and what it says must be mended."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from libs.embedded import datadir
from libs.embedded.postgres import Postgres
from services.doctor import Finding, examine
from tests import infrastructure
from tests.support import mcp_server

NOWHERE = "127.0.0.1:9"


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A data directory that does not exist yet, free ports, and no other setting."""
    for name in [name for name in os.environ if name.startswith("SUMA_")]:
        monkeypatch.delenv(name)
    settings = {"CONFIG": tmp_path / "config.yaml", "DATA_DIR": tmp_path / "data", "PORT": 0, "MEMORY_PORT": 0}
    settings["SANDBOX"] = "none"
    for name, value in settings.items():
        monkeypatch.setenv(f"SUMA_{name}", str(value))
    return tmp_path / "data"


async def found() -> dict[str, Finding]:
    return {f"{finding.group}: {finding.name}": finding for finding in await examine(dict(os.environ))}


async def test_doctor_finds_no_problem_and_creates_nothing(machine: Path) -> None:
    shown = await found()
    assert [finding for finding in shown.values() if finding.state == "problem"] == []
    assert shown["dependencies: PostgreSQL"].detail.startswith("18.")
    assert shown["dependencies: Redis"].detail.startswith("6.")
    assert {"disk: data", "model: offline"} <= shown.keys()
    assert not machine.exists()


async def test_doctor_names_the_command_for_open_data_directory(machine: Path) -> None:
    datadir.prepare(machine)
    (machine / "key").write_text("suma_key")
    (machine / "key").chmod(0o644)
    machine.chmod(0o755)
    shown = await found()
    assert shown["data: data directory"].mend == f"run `chmod 700 {machine}`"
    assert shown["data: key"].mend == f"run `chmod 600 {machine}/key`"


async def test_doctor_reports_foreign_data_directory(machine: Path) -> None:
    machine.mkdir()
    (machine / "thesis.docx").touch()
    problem = (await found())["data: data directory"]
    assert (problem.state, problem.mend) == ("problem", "set SUMA_DATA_DIR to an empty folder")


async def test_doctor_names_the_variable_of_a_taken_port(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("SUMA_PORT", str(taken.getsockname()[1]))
        problem = (await found())["ports: gateway"]
    assert (problem.state, problem.mend) == ("problem", "set SUMA_PORT to another one")


async def test_doctor_stops_at_invalid_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_PORT", "http")
    *_, last = (await found()).values()
    assert (last.group, last.state) == ("settings", "problem")
    assert last.detail.startswith("SUMA_PORT")


async def test_doctor_asks_configured_servers(monkeypatch: pytest.MonkeyPatch, server: Postgres) -> None:
    dsns = infrastructure.dsns(server, infrastructure.TEMPLATE)
    outside = {
        "DATABASE_URL": dsns.app,
        "DATABASE_BUS_URL": dsns.bus,
        "DATABASE_OWNER_URL": dsns.owner,
        "REDIS_URL": f"redis://{NOWHERE}",
        "POLICY": "/nonexistent",
        "MODEL": "openai-compatible:small",
        "MODEL_URL": f"http://{NOWHERE}/v1",
        "ROOTS": "/nonexistent/Documents",
        "PROT": "8010",
    }
    for name, value in outside.items():
        monkeypatch.setenv(f"SUMA_{name}", value)
    shown = await found()
    assert (shown["dependencies: PostgreSQL"].state, shown["dependencies: PostgreSQL"].detail[:3]) == ("ok", "18.")
    problems = {name: finding.mend for name, finding in shown.items() if finding.state == "problem"}
    assert problems == {
        "dependencies: Redis": "check SUMA_REDIS_URL, and that the server runs",
        "dependencies: policy": "check SUMA_POLICY, or SUMA_OPA_URL and that OPA runs",
        "model: openai-compatible:small": "run `suma models check`",
        "disk: /nonexistent/Documents": "create it, or correct SUMA_ROOTS",
    }
    assert "SUMA_PORT" in shown["settings: SUMA_PROT"].detail


async def test_doctor_lists_the_tools_of_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    async with mcp_server.serving() as server:
        server.reset(mcp_server.tool("send"))
        for name, url in (("TICKETS", server.url), ("AWAY", f"http://{NOWHERE}/mcp")):
            monkeypatch.setenv(f"SUMA_TOOL_EXECUTOR__MCP_SERVERS__{name}__URL", url)
            monkeypatch.setenv(f"SUMA_TOOL_EXECUTOR__MCP_SERVERS__{name}__PRIVATE", "true")
        shown = await found()
    assert (shown["tools: tickets"].state, "lists 1 tools" in shown["tools: tickets"].detail) == ("ok", True)
    assert shown["tools: away"].state == "problem"
    assert "MCP_SERVERS__AWAY" in shown["tools: away"].mend


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bubblewrap here")
async def test_doctor_tries_the_walls_of_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_SANDBOX", "bubblewrap")
    finding = (await found())["sandbox: bubblewrap"]
    assert (finding.state, "network" in finding.detail) == ("ok", True)


async def test_doctor_says_why_no_sandbox_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/absent.sock")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SUMA_SANDBOX", "auto")
    shown = await found()
    assert "docker run" in shown["sandbox: docker"].mend
    assert shown["sandbox: bubblewrap"].mend == "install the package bubblewrap"
    assert shown["sandbox: sandbox"].state == "note"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bubblewrap here")
async def test_doctor_shows_which_sandbox_runs_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_SANDBOX", "bubblewrap")
    monkeypatch.setenv("SUMA_COMMITTEE_WORKER__CONTAINERS__ENABLED", "true")
    finding = (await found())["sandbox: turns"]
    assert (finding.state, finding.detail) == (
        "ok",
        "each runs in a container of bubblewrap: the bundled program, mode model",
    )


async def test_doctor_finds_turns_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_SANDBOX", "none")
    monkeypatch.setenv("SUMA_COMMITTEE_WORKER__CONTAINERS__ENABLED", "true")
    finding = (await found())["sandbox: turns"]
    assert (finding.state, "is refused" in finding.detail) == ("problem", True)
