"""`suma status` on services in processes of their own."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner
from typing_extensions import override

from libs.embedded import datadir
from services import catalog
from services.cli.commands import app
from tests.services.cli.answering import Server


class Alone(Server):
    """The health of one service in its own process."""

    def __init__(self, name: str, pid: int) -> None:
        super().__init__()
        self.name, self.pid = name, pid

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @override
    def answer(self, path: str, body: Any) -> Any:
        health = {"ready": True, "pid": self.pid, "version": "1", "checks": {}, "problems": []}
        return {**health, "services": [self.name]}


@contextmanager
def fleet() -> Iterator[dict[str, str]]:
    """Serve the health of all services on free ports; yield their addresses."""
    with ExitStack() as stack:
        services = [Alone(name, pid) for pid, name in enumerate(catalog.NAMES, 1)]
        for service in services:
            serving = Thread(target=service.serve_forever)
            serving.start()
            stack.callback(serving.join)
            stack.callback(service.server_close)
            stack.callback(service.shutdown)
        yield {service.name: service.url for service in services}


def test_status_asks_each_service_at_its_announced_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("SUMA_URL", raising=False)
    with fleet() as urls, datadir.prepare(tmp_path / "data").held() as hold:
        hold.announce(urls["gateway"], urls=urls)
        shown = CliRunner().invoke(app, ["status", "--json"])
    found = json.loads(shown.output)
    assert (shown.exit_code, found["url"], found["data_dir"]) == (0, urls["gateway"], str(tmp_path / "data"))
    assert found["services"] == {name: f"ready (process {pid})" for pid, name in enumerate(catalog.NAMES, 1)}


def test_status_of_a_dead_address_shows_no_other_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_DATA_DIR", str(tmp_path / "data"))
    with fleet() as urls, datadir.prepare(tmp_path / "data").held() as hold:
        hold.announce(urls["gateway"], urls=urls)
        with closing(socket.create_server(("127.0.0.1", 0))) as silent:
            monkeypatch.setenv("SUMA_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/")
        shown, told = (CliRunner().invoke(app, ["status", *args]) for args in ((), ("--json",)))
    found = json.loads(told.output)
    assert (shown.exit_code, found["running"], found["pid"], found["data_dir"]) == (4, False, None, None)
    assert "does not answer" in shown.output
    assert str(tmp_path) not in shown.output


def test_status_of_another_address_shows_that_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_DATA_DIR", str(tmp_path / "data"))
    with fleet() as urls, datadir.prepare(tmp_path / "data").held() as hold:
        hold.announce("http://127.0.0.1:1", urls=urls)
        monkeypatch.setenv("SUMA_URL", urls["gateway"])
        found = json.loads(CliRunner().invoke(app, ["status", "--json"]).output)
    assert (found["url"], found["pid"], found["data_dir"]) == (urls["gateway"], 1, None)
