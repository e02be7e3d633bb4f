"""`suma keys`, `suma tenants` and `suma open` against a real gateway, as in an administrator's script."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest_asyncio

from libs import ids
from tests.services.gateway.running import RunningGateway, served
from tests.support.fork_server import shared

HERE = Path(__file__).parents[4]


@dataclass
class CommandResult:
    code: int
    out: str
    err: str


@dataclass
class Shell:
    url: str
    key: str

    async def suma(self, *arguments: str) -> CommandResult:
        own = {"SUMA_URL": self.url, "SUMA_API_KEY": self.key, "COLUMNS": "200", "PYTHONPATH": str(HERE)}
        process = await (await shared()).begin("services.cli", *arguments, environment={**os.environ, **own})
        out, err = await process.communicate()
        return CommandResult(process.returncode or 0, out.decode(), err.decode())


@pytest_asyncio.fixture(loop_scope="session")
async def shell(home: RunningGateway, running: RunningGateway) -> AsyncIterator[Shell]:
    async with served(running) as url:
        yield Shell(url, home.owner)


async def test_key_is_created_listed_rotated_and_revoked(shell: Shell) -> None:
    made = await shell.suma("keys", "create", "ci", "--principal", "robot", "--role", "user", "--expires", "90d")
    key = made.out.strip()
    assert (made.code, key.startswith("suma_")) == (0, True)
    name = key.split("_")[1]
    (listed,) = json.loads((await shell.suma("keys", "list", "--principal", "robot", "--json")).out)
    assert (listed["key_id"], listed["name"], listed["roles"]) == (name, "ci", ["user"])
    assert name in (await shell.suma("keys", "list")).out
    rotated = json.loads((await shell.suma("keys", "rotate", name, "--overlap", "0m", "--json")).out)
    assert json.loads((await Shell(shell.url, rotated["key"]).suma("open", "--json")).out)["code"]
    assert (await Shell(shell.url, key).suma("open")).code == 1
    unasked = await shell.suma("keys", "revoke", rotated["key_id"])
    assert (unasked.code, "add --yes" in unasked.err) == (3, True)
    assert (await shell.suma("keys", "revoke", rotated["key_id"], "--yes")).code == 0
    assert "revoked" in (await shell.suma("keys", "list", "--all")).out


async def test_tenant_is_created_and_gets_a_key(running: RunningGateway, shell: Shell) -> None:
    owner, tenant = Shell(shell.url, running.owner), f"t{ids.new()}"
    assert (await owner.suma("tenants", "create", tenant, "--name", "ACME")).code == 0
    assert tenant in (await owner.suma("tenants", "list")).out
    made = await owner.suma("keys", "create", "first", "--principal", "ann", "--role", "admin", "--tenant", tenant)
    assert "ann" in (await Shell(shell.url, made.out.strip()).suma("tenants", "principals")).out
    refused = await shell.suma("tenants", "list")
    assert (refused.code, "admin.tenants" in refused.err) == (1, True)


async def test_wrong_key_arguments_are_one_line(shell: Shell) -> None:
    for arguments in (
        ("create", "x", "--principal", "a"),
        ("create", "x", "--principal", "a", "--role", "user", "--expires", "soon"),
        ("rotate", "x", "--overlap", "long"),
    ):
        said = await shell.suma("keys", *arguments)
        assert (said.code, len(said.err.strip().splitlines())) == (2, 1), arguments
