"""`suma budgets`: what is left, for a person and for a program."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typing_extensions import override

from services.cli.commands import app
from tests.services.cli.answering import Server, running


def line(limit: int, spent: int = 0, reserved: int = 0) -> dict[str, int]:
    return {"limit": limit, "spent": spent, "reserved": reserved}


class Treasurer(Server):
    """Knows one tenant's account, and each session's."""

    def __init__(self, tenant: dict[str, Any]) -> None:
        super().__init__()
        self.tenant = {**tenant, "until": "2026-03-05T00:00:00Z"}

    @override
    def answer(self, path: str, body: Any) -> Any:
        session = {"tokens": line(500, 7), "cost_micros": line(0), "until": None} if "session=s1" in path else None
        return {"tenant": self.tenant, "session": session, "as_of": "2026-03-04T12:00:00Z"}


BUSY = {"tokens": line(50_000_000, 1_200_300, 36_000), "cost_micros": line(100_000_000, 2_500_000, 40_000)}


def test_remaining_budget_is_shown_in_tokens_and_dollars(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Treasurer(BUSY), monkeypatch) as runner:
        rows = [row.split() for row in runner.invoke(app, ["budgets"]).output.splitlines()]
    assert rows[0] == ["account", "of", "limit", "spent", "reserved", "left", "until"]
    assert rows[1][:6] == ["tenant", "tokens", "50,000,000", "1,200,300", "36,000", "48,763,700"]
    assert rows[2][:6] == ["tenant", "dollars", "100.0000", "2.5000", "0.0400", "97.4600"]
    assert rows[1][6:] == ["2026-03-05", "00:00"]


def test_a_session_is_shown_beside_its_tenant(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Treasurer(BUSY), monkeypatch) as runner:
        told = runner.invoke(app, ["budgets", "--session", "s1"]).output
        assert (
            json.loads(runner.invoke(app, ["budgets", "--session", "s1", "--json"]).output)["session"]["until"] is None
        )
    assert ["session", "tokens", "500", "7", "0", "493"] in [row.split() for row in told.splitlines()]


def test_unused_budget_is_reported_as_unspent(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Treasurer({"tokens": line(5), "cost_micros": line(6)}), monkeypatch) as runner:
        assert "Nothing has been spent" in runner.invoke(app, ["budgets"]).output


def test_an_account_that_is_overdrawn_has_nothing_left(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Treasurer({"tokens": line(5, 9), "cost_micros": line(6)}), monkeypatch) as runner:
        rows = [row.split() for row in runner.invoke(app, ["budgets"]).output.splitlines()]
    assert rows[1][:6] == ["tenant", "tokens", "5", "9", "0", "0"]
