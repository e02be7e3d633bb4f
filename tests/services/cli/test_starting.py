"""How quickly the command answers: what a command does not need, it does not load."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DEAR = {"asyncio", "httpx", "libs.events", "libs.skills", "numpy", "pydantic_settings", "services.settings", "yaml"}
"""What takes more than 50 ms of a processor to load (pydantic itself is typer's)."""
PROGRAM = """
import sys
from contextlib import suppress
sys.argv = ["suma", *{arguments}]
from services import cli
with suppress(SystemExit):
    cli.main()
print("loaded:", *sys.modules)
"""


def loaded(*arguments: str, **settings: str) -> set[str]:
    """Modules, after a command has run."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SUMA_")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM.format(arguments=list(arguments))],
        env={**inherited, "PYTHONPATH": str(ROOT), **settings},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(done.stdout.splitlines()[-1].removeprefix("loaded: ").split())


@pytest.mark.parametrize("arguments", [("--help",), ("dlq", "--help"), ("run", "--help"), ("models", "list")])
def test_commands_without_a_platform_load_no_heavy_module(arguments: tuple[str, ...]) -> None:
    assert loaded(*arguments) & DEAR == set()


def test_a_platform_that_is_named_is_asked_without_our_settings() -> None:
    named = {"SUMA_URL": "http://127.0.0.1:1", "SUMA_API_KEY": "key"}
    assert loaded("sessions", **named) & DEAR <= {"httpx", "asyncio"}
