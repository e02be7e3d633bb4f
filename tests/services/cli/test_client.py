"""The client: streams that survive being cut, and refusals in words for a person."""

from __future__ import annotations

import httpx
import pytest

from services.cli import errors
from services.cli.errors import NotRunning, Refused
from tests.services.cli.gateway import SESSION, TURN, Gateway, event, refusing

EVENTS = [event(1, "turn.started"), event(2, "plan.proposed"), event(3, "turn.ended", state="completed", reason=None)]


@pytest.mark.requirement("A19")
@pytest.mark.parametrize("cut", range(0, 560, 7))
def test_stream_cut_at_any_byte_continues_exactly(cut: int) -> None:
    gateway = Gateway(EVENTS, cuts=[cut])
    with gateway.client() as suma:
        assert [seen.seq for seen in suma.events(SESSION, until=TURN)] == [1, 2, 3]


def test_a_stream_ends_with_the_turn_that_is_waited_for() -> None:
    gateway = Gateway([*EVENTS, event(4, "turn.started", turn="t2")])
    with gateway.client() as suma:
        assert [seen.seq for seen in suma.events(SESSION, after=1, until=TURN)] == [2, 3]
    assert gateway.read_from == [1]


def test_missing_server_error_says_how_to_start_it() -> None:
    def gone(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with (
        refusing(gone) as suma,
        pytest.raises(NotRunning, match="start it with `suma up`") as said,
    ):
        suma.get("/v1/sessions")
    assert errors.exit_code(said.value) == errors.NO_SERVER


@pytest.mark.requirement("A29")
def test_download_redirect_drops_the_api_key() -> None:
    def linking(request: httpx.Request) -> httpx.Response:
        if request.url.host == "files.example":
            assert "authorization" not in request.headers
            return httpx.Response(200, content=b"content")
        assert "authorization" in request.headers
        return httpx.Response(307, headers={"Location": "https://files.example/b/k?X-Amz-Signature=0"})

    with refusing(linking) as suma:
        assert b"".join(suma.download("/v1/assets/a1")) == b"content"


def test_error_names_the_source_of_a_wrong_key() -> None:
    with (
        refusing(lambda request: httpx.Response(401, json={"detail": "no"})) as suma,
        pytest.raises(Refused, match="does not know the key from the key file"),
    ):
        suma.get("/v1/sessions")


def test_a_refusal_speaks_in_the_server_s_own_words() -> None:
    problem = {"detail": "Not so.", "code": "NOT_SO", "errors": [{"pointer": "/text", "detail": "too short"}]}
    with (
        refusing(lambda request: httpx.Response(422, json=problem)) as suma,
        pytest.raises(Refused, match=r"Not so\.; /text: too short") as refused,
    ):
        suma.say(SESSION, "")
    assert refused.value.code == "NOT_SO"


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff", b"[]"])
def test_other_error_bodies_become_one_line(body: bytes) -> None:
    with refusing(lambda request: httpx.Response(502, content=body)) as suma, pytest.raises(Refused, match="502"):
        suma.get("/v1/sessions")


@pytest.mark.requirement("A20")
def test_retry_after_restart_uses_the_same_key() -> None:
    keys: list[str] = []

    def restarting(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers.get("Idempotency-Key", ""))
        if len(keys) in (2, 3):
            raise httpx.ConnectError("refused")
        return httpx.Response(202, json={})

    with refusing(restarting) as suma:
        suma.get("/v1/sessions")
        suma.say(SESSION, "a")
    assert len(keys) == 4
    assert len(set(keys[1:])) == 1


def draining() -> httpx.Response:
    problem = {"detail": "This server is stopping; retry in a few seconds.", "code": "DRAINING"}
    return httpx.Response(503, json=problem, headers={"Retry-After": "1"})


@pytest.mark.requirement("A20")
def test_a_change_is_repeated_while_the_server_stops() -> None:
    keys: list[str] = []

    def restarting(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers.get("Idempotency-Key", ""))
        return draining() if len(keys) in (2, 3) else httpx.Response(202, json={})

    with refusing(restarting) as suma:
        suma.get("/v1/sessions")
        suma.say(SESSION, "a")
    assert len(keys) == 4
    assert len(set(keys[1:])) == 1


@pytest.mark.requirement("A19")
def test_a_stream_continues_after_the_server_stops() -> None:
    gateway = Gateway(EVENTS, cuts=[300])
    gateway.refused_streams = [draining(), draining()]
    with gateway.client() as suma:
        assert [seen.seq for seen in suma.events(SESSION, until=TURN)] == [1, 2, 3]


def test_the_first_call_to_a_stopping_server_fails_at_once() -> None:
    with refusing(lambda request: draining()) as suma, pytest.raises(Refused, match="is stopping") as refused:
        suma.get("/v1/sessions")
    assert refused.value.code == "DRAINING"


@pytest.mark.requirement("A20")
def test_each_change_has_its_own_idempotency_key() -> None:
    keys: list[str] = []

    def keep(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["Idempotency-Key"])
        return httpx.Response(202, json={})

    with refusing(keep) as suma:
        suma.say(SESSION, "a")
        suma.say(SESSION, "a")
    assert len(set(keys)) == 2
