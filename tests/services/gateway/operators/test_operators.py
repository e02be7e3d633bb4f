"""`suma dlq` and `suma admin` against a real gateway, as in an operator's script."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest_asyncio

from tests.services.gateway.operators.conftest import Operator
from tests.services.gateway.running import served
from tests.support.fork_server import shared

HERE = Path(__file__).parents[4]


@dataclass
class CommandResult:
    code: int
    out: str
    err: str


@dataclass
class Shell:
    operator: Operator
    url: str

    async def suma(self, *arguments: str) -> CommandResult:
        own = {
            "SUMA_URL": self.url,
            "SUMA_API_KEY": self.operator.gateway.owner,
            "COLUMNS": "200",
            "PYTHONPATH": str(HERE),
        }
        process = await (await shared()).begin("services.cli", *arguments, environment={**os.environ, **own})
        out, err = await process.communicate()
        return CommandResult(process.returncode or 0, out.decode(), err.decode())


@pytest_asyncio.fixture(loop_scope="session")
async def shell(operator: Operator) -> AsyncIterator[Shell]:
    async with served(operator.gateway) as url:
        yield Shell(operator, url)


async def test_empty_dead_letter_list_is_reported(shell: Shell) -> None:
    said = await shell.suma("dlq", "list")
    assert (said.code, said.out.strip()) == (0, "No open dead letters.")
    assert json.loads((await shell.suma("dlq", "list", "--json", "--state", "any")).out) == []
    assert (await shell.suma("admin", "requeue")).out.strip() == "Nothing waits for policy."


async def test_dead_letter_is_listed_shown_and_replayed_by_command(shell: Shell) -> None:
    await shell.operator.remember("bad \x1b[31m")
    (letter,) = await shell.operator.letters(1)
    listed = (await shell.suma("dlq", "list", "--type", "remember.requested", "--since", "1h")).out
    assert all(
        word in listed for word in (letter["letter_id"], "conversation_worker", "remember.requested", "REJECTED")
    )
    shown = (await shell.suma("dlq", "show", letter["letter_id"])).out
    assert "REJECTED: it says so itself" in shown
    assert "\x1b" not in shown
    shell.operator.worker.mended = True
    assert "is being handled again" in (await shell.suma("dlq", "replay", letter["letter_id"])).out
    await shell.operator.until_handled(1)
    again = await shell.suma("dlq", "replay", letter["letter_id"])
    assert (again.code, "already replayed by owner" in again.out) == (0, True)
    assert "replayed" in (await shell.suma("dlq", "list", "--state", "any")).out


async def test_replay_of_all_pages_needs_yes(shell: Shell) -> None:
    for number in range(103):
        await shell.operator.remember(f"bad {number}")
    await shell.operator.letters(103)
    shell.operator.worker.mended = True
    unasked = await shell.suma("dlq", "replay", "--all")
    assert (unasked.code, "add --yes" in unasked.err) == (3, True)
    done = await shell.suma("dlq", "replay", "--all", "--yes", "--reason", "mended")
    assert (done.code, done.out.strip()) == (0, "✔ 103 dead letters replayed")
    await shell.operator.until_handled(103)


async def test_discard_by_command_needs_a_reason(shell: Shell) -> None:
    await shell.operator.remember("bad")
    (letter,) = await shell.operator.letters(1)
    assert (await shell.suma("dlq", "discard", letter["letter_id"])).code == 2
    assert (await shell.suma("dlq", "discard", letter["letter_id"], "--reason", " ")).code == 2
    assert (await shell.suma("dlq", "discard", letter["letter_id"], "--reason", "spam")).code == 0
    refused = await shell.suma("dlq", "replay", letter["letter_id"])
    assert (refused.code, refused.err.strip()) == (1, "suma: this dead letter was discarded by owner")


async def test_invalid_arguments_are_reported_in_one_line(shell: Shell) -> None:
    for arguments in (
        ("replay",),
        ("replay", "x", "--all"),
        ("replay", "x", "--topic", "t"),
        ("list", "--since", "soon"),
    ):
        said = await shell.suma("dlq", *arguments)
        assert (said.code, len(said.err.strip().splitlines())) == (2, 1), arguments
    assert (
        await shell.suma("dlq", "show", "nonesuch")
    ).err.strip() == "suma: There is no such dead letter; list the open ones."


async def test_bus_and_waiting_events_are_shown_and_retried_by_command(shell: Shell) -> None:
    await shell.operator.say("policy: hm")
    async with asyncio.timeout(60):
        while not shell.operator.worker.board.notices:
            await asyncio.sleep(0.02)
    (waiting,) = json.loads((await shell.suma("admin", "requeue", "--json")).out)
    assert waiting["id"] in (await shell.suma("admin", "requeue")).out
    told = (await shell.suma("admin", "bus")).out
    assert "conversation.inbound" in told
    assert "is being retried by conversation_worker" in (await shell.suma("admin", "retry", waiting["id"])).out
    assert (await shell.suma("admin", "retry", "nonesuch")).code == 1
