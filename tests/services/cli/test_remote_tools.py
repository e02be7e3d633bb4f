"""`suma tools`: what waits for an approval, and the digest that an approval carries."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typing_extensions import override

from services.cli import remote_tools
from services.gateway.contract import EXAMPLES
from tests.services.cli.answering import Server, running

REMOTE_SERVER = EXAMPLES["schemas"]["RemoteServer"]
REMOTE_TOOL = REMOTE_SERVER["tools"][0]
OURS = EXAMPLES["schemas"]["ToolList"]["tools"][0]
OFFERED = {**REMOTE_TOOL, "name": "tickets.find", "state": "offered", "reason": ""}
GONE = {**REMOTE_TOOL, "name": "tickets.old", "state": "gone", "reason": "the server does not list it any more"}


class Servers(Server):
    """Knows one server with three tools."""

    problem = ""

    @override
    def answer(self, path: str, body: Any) -> Any:
        if path == "/v1/admin/tools":
            return {"servers": [{**REMOTE_SERVER, "tools": [REMOTE_TOOL, OFFERED, GONE], "problem": self.problem}]}
        return {"tools": [OURS]} if path == "/v1/tools" else OFFERED


def test_pending_lists_only_tools_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Servers(), monkeypatch) as runner:
        assert json.loads(runner.invoke(remote_tools.app, ["pending", "--json"]).output) == [REMOTE_TOOL]
        listed = runner.invoke(remote_tools.app, ["list"])
    assert (listed.exit_code, "tickets.find" in listed.output) == (0, True)


def test_an_unreachable_server_is_an_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = Servers()
    servers.problem = "ConnectError"
    with running(servers, monkeypatch) as runner:
        listed = runner.invoke(remote_tools.app, ["list"])
    assert (listed.exit_code, "ConnectError" in listed.output) == (1, True)


def test_an_approval_carries_the_digest_that_was_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(servers := Servers(), monkeypatch) as runner:
        unseen = runner.invoke(remote_tools.app, ["approve", "tickets.create"])
        done = runner.invoke(remote_tools.app, ["approve", "tickets.create", "--yes"])
        gone = runner.invoke(remote_tools.app, ["approve", "tickets.old", "--yes"])
        runner.invoke(remote_tools.app, ["revoke", "tickets.create"])
    assert [unseen.exit_code != 0, done.exit_code, gone.exit_code != 0] == [True, 0, True]
    approved = ("/v1/admin/tools/tickets.create/approve", {"digest": REMOTE_TOOL["digest"]})
    assert servers.posts == [approved, ("/v1/admin/tools/tickets.create/revoke", {})]


def test_all_tools_are_listed_with_their_risks(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Servers(), monkeypatch) as runner:
        assert json.loads(runner.invoke(remote_tools.app, ["all", "--json"]).output) == [OURS]
        lines = runner.invoke(remote_tools.app, ["all"]).output.splitlines()
        shown = runner.invoke(remote_tools.app, ["show", OURS["name"]]).output
        remote = runner.invoke(remote_tools.app, ["show", "tickets.find"]).output
    assert [line.split()[1:4] for line in lines if OURS["name"] in line] == [["skill", "reads", "pure"]]
    assert OURS["description"] in shown
    assert "offered" in remote
