"""`suma make`: lists, jobs with their versions, plans from files, and names that come from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result
from typing_extensions import override

from services.cli import commands, make
from services.cli.errors import Usage
from tests.services.cli.answering import Server, running

VERSION: dict[str, Any] = {
    "step_id": "s1",
    "attempt": 1,
    "tool_id": "vega",
    "provider": "local",
    "quality": 0.5,
    "critique": ["larger\x1b[2J letters"],
    "error": None,
}
ASSET = {
    "asset_id": "a1",
    "title": "File\x1b[2J types",
    "format": "svg",
    "size": 1200,
    "width": 640,
    "height": 480,
    "path": None,
}
STEP = {
    "ordinal": 1,
    "tool": "make-documents.chart",
    "state": "succeeded",
    "depends_on": [],
    "description": "Draw",
    "summary": "Made it.",
    "error": None,
    "executions": [VERSION],
}
JOB: dict[str, Any] = {
    "job_id": "j1",
    "state": "completed",
    "steps": 1,
    "created_at": "2026-03-02T09:15:04Z",
    "request": "a chart",
    "plan": [STEP],
    "assets": [ASSET],
    "warnings": ["another provider took over"],
    "cost_micros": 20_000,
}
ABLE = {
    "tool_id": "vega",
    "provider": "local",
    "formats": ["svg"],
    "cost_tier": "free",
    "latency_ms": 420,
    "health_status": "healthy",
}
NEW = {**ABLE, "provider": "shop", "latency_ms": None}


class Making(Server):
    """Knows one job and one capability."""

    def __init__(self, *, enabled: bool = True) -> None:
        super().__init__()
        self.enabled = enabled

    @override
    def answer(self, path: str, body: Any) -> Any:
        if "capabilities" in path:
            able = [{**each, "problem": ""} for each in (ABLE, NEW)] if self.enabled else []
            return {"enabled": self.enabled, "problem": "" if self.enabled else "set the flag", "capabilities": able}
        if path.endswith("/cancel"):
            return {"turn_id": "j1"}
        return JOB if "/jobs/" in path else {"jobs": [JOB]}


def asked(monkeypatch: pytest.MonkeyPatch, server: Server, *words: str) -> Result:
    with running(server, monkeypatch) as runner:
        return runner.invoke(make.app, [*words])


def test_list_shows_the_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    result = asked(monkeypatch, Making(), "list")
    assert (result.exit_code, "j1" in result.output, "a chart" in result.output) == (0, True, True)
    assert json.loads(asked(monkeypatch, Making(), "list", "--json").output)[0]["job_id"] == "j1"


def test_show_has_versions_results_and_cost_as_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    said = asked(monkeypatch, Making(), "show", "j1").output
    for part in ("attempt 1", "local/vega", "letters", "640 × 480", "asset a1", "$0.02"):
        assert part in said, part
    assert "\x1b[2J" not in said


def test_cancel_asks_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "cancelled j1" in asked(monkeypatch, Making(), "cancel", "j1").output


def test_capabilities_exit_with_one_where_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
    said = asked(monkeypatch, Making(), "capabilities").output
    assert ("healthy" in said, "0.42 s" in said, "None" in said) == (True, True, False)
    off = asked(monkeypatch, Making(enabled=False), "capabilities")
    assert (off.exit_code, "set the flag" in off.output) == (1, True)


def test_the_first_command_may_go_unnamed() -> None:
    help = CliRunner().invoke(commands.app, ["make", "a chart", "--help"]).output
    assert "--folder" in help


@pytest.mark.parametrize(("text", "why"), [("[]", "no plan"), ("{", "not JSON"), (None, "cannot be read")])
def test_a_file_that_is_no_plan_is_refused(tmp_path: Path, text: str | None, why: str) -> None:
    file = tmp_path / "plan.json"
    if text is not None:
        file.write_text(text)
    result = CliRunner().invoke(commands.app, ["make", str(file)])
    assert isinstance(result.exception, Usage)
    assert why in str(result.exception)


def test_an_existing_result_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "out.svg").write_text("mine")
    result = CliRunner().invoke(commands.app, ["make", "a chart", "--out", str(tmp_path / "out.svg")])
    assert "exists already" in str(result.exception)
