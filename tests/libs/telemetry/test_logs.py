"""Logs are lines of JSON with a fixed phrase, and contain no secrets."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog

from libs.telemetry import logs, traces
from tests.libs.telemetry.spans import Kept

Line = Callable[[], dict[str, Any]]
KEY = "suma_" + "a" * 16 + "_" + "b" * 52


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    """Restore the run's own configuration afterwards."""
    yield
    logs.configure(json=False, level="CRITICAL")


def json_log() -> Any:
    """Return a logger that writes JSON to this test's standard error. Not a fixture, because a fixture has another
    stream.
    """
    logs.configure(json=True)
    return logs.logger("here")


@pytest.fixture
def line(capsys: pytest.CaptureFixture[str]) -> Line:
    """The last line that was written."""
    return lambda: json.loads(capsys.readouterr().err.splitlines()[-1])


def test_a_line_is_a_phrase_its_part_and_its_fields(line: Line) -> None:
    log = json_log()
    log.info("an event waits", group="gateway", attempts=2)
    told = line()
    assert told.pop("timestamp").endswith("Z")
    assert told == {"event": "an event waits", "level": "info", "part": "here", "group": "gateway", "attempts": 2}


@pytest.mark.parametrize("name", ["api_key", "grant", "Authorization", "cookie", "access_token", "password", "secret"])
def test_secret_fields_lose_their_values_at_any_depth(line: Line, name: str) -> None:
    log = json_log()
    log.info("asked", **{name: "hunter2"}, headers=[{name: "hunter2"}])
    assert "hunter2" not in json.dumps(line())


@pytest.mark.parametrize("name", sorted(logs.PLAIN))
def test_a_name_that_only_sounds_secret_keeps_its_value(line: Line, name: str) -> None:
    log = json_log()
    log.info("asked", **{name: "local:s1"})
    assert line()[name] == "local:s1"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Bearer abcdefgh12345678", "abcdefgh12345678"),
        ("postgresql://ada:hunter2@db/suma", "hunter2"),
        (f"the key {KEY} is unknown", "b" * 52),
        (f"GET https://files/b/k?X-Amz-Expires=60&X-Amz-Signature={'9' * 64}", "9" * 64),
        ("token eyJhbGciOi.eyJzdWIi.c2ln expired", "eyJzdWIi"),
    ],
)
def test_apparent_secrets_are_hidden_in_texts_and_errors(line: Line, text: str, secret: str) -> None:
    log = json_log()
    log.info(text, said=text, error=ValueError(text), several=(text,))
    assert secret not in json.dumps(line())
    try:
        raise ValueError(text)
    except ValueError:
        log.exception("it failed")
    told = line()
    assert secret not in json.dumps(told)
    assert "ValueError" in told["exception"]


def test_a_plain_address_stays_readable(line: Line) -> None:
    log = json_log()
    log.info("listening", url="http://127.0.0.1:8010/docs")
    assert line()["url"] == "http://127.0.0.1:8010/docs"


@pytest.mark.requirement("S3-63")
def test_a_line_within_a_trace_carries_its_id(line: Line) -> None:
    log = json_log()
    with Kept() as kept, traces.span("work"):
        log.info("working")
        told = line()
    assert told["trace_id"] == f"{kept.spans[0].context.trace_id:032x}"
    log.info("done")
    assert "trace_id" not in line()


def test_library_logs_have_the_same_form(line: Line) -> None:
    json_log()
    logging.getLogger("asyncpg").warning("lost %s", "postgresql://ada:hunter2@db")
    told = line()
    assert (told["part"], told["level"]) == ("asyncpg", "warning")
    assert told["event"] == "lost postgresql://[hidden]@db"


def test_setting_up_twice_writes_each_line_once(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(json=True)
    logging.getLogger("asyncpg").warning("lost")
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_line_below_the_level_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(json=True, level="ERROR")
    structlog.get_logger().warning("an event waits")
    logging.getLogger("asyncpg").warning("lost")
    assert capsys.readouterr().err == ""
