"""`suma models`: what it says of a model that works, and of each way in which one does not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from typer.testing import CliRunner, Result

from libs.errors import Rejected
from services.cli.commands import app
from tests.infrastructure.vendor import APPROVED, KEY, Turn, Vendor, planned, refused, said, vendor

LIST = planned(("manage-files.list", {"path": "."}))
GOOD = (LIST, APPROVED, said("Two files: ", "invoice.pdf and photo.jpg."))


@pytest_asyncio.fixture
async def there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Vendor]:
    monkeypatch.setenv("SUMA_CONFIG", str(tmp_path / "config.yaml"))
    monkeypatch.setenv("SUMA_MODEL", "openai-compatible:toy")
    monkeypatch.setenv("SUMA_MODEL_KEY", KEY)
    async with vendor() as running:
        monkeypatch.setenv("SUMA_MODEL_URL", running.url)
        yield running


async def suma(*arguments: str) -> Result:
    return await asyncio.to_thread(lambda: CliRunner().invoke(app, ["models", *arguments]))


async def test_check_reports_every_ability_of_a_good_model(there: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_MODEL_INPUT_PRICE", "1")
    monkeypatch.setenv("SUMA_MODEL_OUTPUT_PRICE", "2")
    there.play(*GOOD)
    result = await suma("check")
    assert result.exit_code == 0, result.output
    for words in ("accepts the key", "plans: manage-files.list", "approves", "streams: first words", "2 pieces"):
        assert words in result.output
    assert "300 tokens in, 60 out, $0.0004" in result.output
    assert KEY not in result.output


async def test_an_address_beside_the_api_is_not_reached(there: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_MODEL_URL", there.url.removesuffix("/v1"))
    result = await suma("check")
    said = " ".join(result.output.split())
    assert result.exit_code == 1
    assert "is not the address of a model's API; SUMA_MODEL_URL usually ends with /v1" in said
    assert "accepts the key" not in said


async def test_json_report_has_no_price_if_unknown(there: Vendor) -> None:
    there.play(*GOOD)
    told = json.loads((await suma("check", "--json")).output)
    assert (told["model"], told["ok"], told["input_tokens"]) == ("openai-compatible:toy", True, 300)
    assert told["cost_micros"] is None
    assert [one["what"] for one in told["tried"]] == ["reach", "plan", "judge", "answer", "pay"]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("SUMA_BUDGETS__TURN_TOKENS", "30000", "a turn no more than 30,000 tokens: raise SUMA_BUDGETS__TURN_TOKENS"),
        ("SUMA_BUDGETS__TURN_DOLLARS", "0.05", "a turn no more than $0.05: raise SUMA_BUDGETS__TURN_DOLLARS"),
    ],
)
async def test_unaffordable_model_is_reported(
    there: Vendor, monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str
) -> None:
    for variable, price in (("SUMA_MODEL_INPUT_PRICE", "1"), ("SUMA_MODEL_OUTPUT_PRICE", "5"), (name, value)):
        monkeypatch.setenv(variable, price)
    there.play(*GOOD)
    result = await suma("check")
    assert (result.exit_code, says in " ".join(result.output.split())) == (1, True), result.output


async def test_working_output_format_is_named_if_configured_one_fails(there: Vendor) -> None:
    def script(asked: object) -> Turn:
        body = getattr(asked, "body", {})
        if body.get("tools"):
            return refused(400, "tools are not supported")
        return said(json.dumps(APPROVED.call if "judge" in str(body) else LIST.call)) if _wants(body) else said("Two.")

    there.script = script
    result = await suma("check")
    assert result.exit_code == 1
    assert "It plans with SUMA_MODEL_OUTPUT=schema" in result.output


def _wants(body: dict[str, object]) -> bool:
    return "response_format" in body


@pytest.mark.parametrize(
    ("turns", "says"),
    [
        ([refused(401)], "the key was not accepted"),
        ([refused(404)], "has no such model"),
        ([refused(402)], "quota is used up"),
        ([Turn(raw=b"<html>", kind="text/html")] * 3, "unexpected content type (text/html, HTTP 200)"),
        ([LIST, said("fine!"), said("Two.")], "its verdict cannot be read"),
        ([LIST, APPROVED, said()], "returned an empty answer"),
    ],
)
async def test_check_names_each_failing_ability(there: Vendor, turns: list[Turn], says: str) -> None:
    there.play(*turns)
    result = await suma("check")
    assert (result.exit_code, says in result.output) == (1, True), result.output
    assert KEY not in result.output


async def test_check_reports_a_failed_connection(there: Vendor) -> None:
    await there.stop()
    result = await suma("check")
    assert (result.exit_code, "connection failed" in result.output) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--model", "toy"], "use `offline`, or provider:name"),
        (["--model", "openai:"], "is not a valid model"),
        (["--output", "xml"], "one of tool, schema, text"),
        (["--url", "ftp://x"], "begins with http"),
    ],
)
async def test_invalid_arguments_are_refused_before_any_request(there: Vendor, arguments: list[str], says: str) -> None:
    result = await suma("check", *arguments)
    assert isinstance(result.exception, Rejected)
    assert says in str(result.exception)
    assert there.asked == []


async def test_the_offline_model_needs_nothing(there: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_MODEL", "offline")
    result = await suma()
    assert (result.exit_code, "no network" in result.output, there.asked) == (0, True, [])


async def test_the_providers_are_listed_with_their_variables(there: Vendor) -> None:
    output = (await suma("list")).output
    for words in ("openai:", "anthropic:", "ollama:", "openai-compatible:", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        assert words in output
