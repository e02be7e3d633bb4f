"""The server adapter: bundles swapped at run time, an unavailable server, and false answers."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import pytest
import pytest_asyncio

from deploy.local.cache import Unprovided
from deploy.local.opa import opa
from deploy.local.served import Served
from libs.policy import Bundle, Policy, PolicyUnanswered
from libs.policy.bundle_server import Tried, serving
from libs.policy.opa import ANSWER_BYTES_MOST, connected
from libs.policy.publish import main
from libs.runtime.health import _policy
from libs.runtime.platform import Platform
from tests.conformance.policy.laws import SCOPED, SECONDS, SHIPPED, bundle, deciding
from tests.libs.policy.liar import NO, YES, http, lying, told

SPEAK = {**SCOPED, "length": 3}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bundle that the test may change."""
    return bundle(tmp_path / "law")


@pytest_asyncio.fixture
async def server(folder: Path) -> AsyncIterator[Served]:
    async with AsyncExitStack() as stack:
        try:
            running = await stack.enter_async_context(opa(folder))
        except Unprovided as reason:
            pytest.skip(f"no OPA: {reason}")
        yield running
        await running.resume()


@pytest_asyncio.fixture
async def policy(server: Served) -> AsyncIterator[Policy]:
    async with connected(server.url, deadline=SECONDS, monotonic=hurried) as asked:
        assert await asked.reload(), asked.problem
        yield asked


def hurried() -> float:
    """Return a clock by which OPA's status is read ten times as often."""
    return 10 * time.monotonic()


async def until(policy: Policy, holds: Callable[[], bool]) -> None:
    """Reload until it does: the server polls for a new bundle every second."""
    async with asyncio.timeout(30):
        while not holds():
            await policy.reload()
            await asyncio.sleep(0.05)


@pytest.mark.requirement("S3-52")
async def test_a_new_bundle_is_taken_up_while_the_server_runs(folder: Path, policy: Policy) -> None:
    before = policy.revision
    bundle(folder, settings={"max_message_length": 2})
    await until(policy, lambda: policy.revision != before)
    decision = await policy.decide("conversation.send", SPEAK)
    assert (decision.allowed, decision.revision) == (False, Bundle.read(folder).revision)


def named(name: str) -> str:
    return deciding("input.x == 1").replace('"one"', f'"{name}"')


@pytest.mark.requirement("S3-52", "P4")
async def test_answers_carry_their_revision_during_a_bundle_update(folder: Path, policy: Policy) -> None:
    answered: set[tuple[str, str]] = set()
    expected: set[tuple[str, str]] = set()
    for name in ("first", "second", "third"):
        expected.add((name, Bundle.read(bundle(folder, named(name))).revision))
        async with asyncio.timeout(30):
            while name not in {rule for rule, _ in answered}:
                some = await asyncio.gather(*(policy.decide("x", {**SCOPED, "x": 1}) for _ in range(8)))
                answered |= {(each.rule, each.revision) for each in some if each.rule != "default"}
    assert answered == expected


@pytest.mark.requirement("A8")
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("suma.rego", "package suma\ndecision := {", "suma.rego: 2: unexpected eof"),
        ("suma.rego", deciding("not io.telepathy(input.x)"), "undefined function io.telepathy"),
        ("data.json", "{", "keeps the old bundle"),
    ],
)
async def test_broken_bundle_keeps_the_old_one_and_reports_it(
    folder: Path, policy: Policy, name: str, content: str, says: str
) -> None:
    revision = policy.revision
    (folder / name).write_text(content)
    await until(policy, lambda: policy.problem is not None)
    assert says in (policy.problem or "")
    assert (await policy.decide("conversation.send", SPEAK)).revision == policy.revision == revision
    bundle(folder)
    await until(policy, lambda: policy.problem is None)


@pytest.mark.requirement("A8")
async def test_bundle_that_allows_an_empty_question_stays_inactive(folder: Path, policy: Policy) -> None:
    revision = policy.revision
    bundle(folder, deciding("true"))
    await until(policy, lambda: policy.problem is not None)
    with pytest.raises(PolicyUnanswered, match="empty question"):
        await policy.decide("conversation.send", SPEAK)
    assert policy.revision == revision


@pytest.mark.requirement("A8", "A17")
async def test_unavailable_server_allows_nothing_until_it_returns(server: Served, policy: Policy) -> None:
    assert (await policy.decide("conversation.send", SPEAK)).allowed
    await server.kill()
    with pytest.raises(PolicyUnanswered):
        await policy.decide("conversation.send", SPEAK)
    await policy.reload()
    assert "does not answer" in (policy.problem or "")
    await server.start()
    await policy.reload()
    assert policy.problem is None
    assert (await policy.decide("conversation.send", SPEAK)).allowed


@pytest.mark.requirement("A8", "A17")
async def test_a_server_that_hangs_answers_too_late(server: Served) -> None:
    async with connected(server.url, deadline=0.2) as policy:
        await server.pause()
        asked = (policy.decide("conversation.send", SPEAK) for _ in range(40))
        told = await asyncio.gather(*asked, return_exceptions=True)
        assert {type(each) for each in told} == {PolicyUnanswered}
        await policy.reload()
        assert policy.problem == "The policy engine answered too late."


@pytest.mark.requirement("A8")
async def test_a_server_without_a_bundle_answers_nothing(folder: Path) -> None:
    (folder / "suma.rego").unlink()
    try:
        async with opa(folder) as server, connected(server.url, deadline=SECONDS) as policy:
            await policy.reload()
            assert "does not say which bundle" in (policy.problem or "")
            with pytest.raises(PolicyUnanswered):
                await policy.decide("conversation.send", SPEAK)
    except Unprovided as reason:
        pytest.skip(f"no OPA: {reason}")


GARBAGE = {
    "nothing": http(b""),
    "words": http(b"yes"),
    "true": http(b"true"),
    "a bare yes": http(b'{"result": true}'),
    "a yes of no bundle": http(json.dumps({"result": YES}).encode()),
    "a yes of another bundle": told(YES, bundle="other"),
    "a revision that is no hash": told(YES, revision="v1"),
    "a revision of another type": told(YES, revision=[0]),
    "half a document": http(told(YES).partition(b"\r\n\r\n")[2][:-9]),
    "a document cut short": http(told(YES).partition(b"\r\n\r\n")[2], length=5_000) + b"\0",
    "nan": http(b'{"result": NaN}'),
    "nesting without end": http(b"[" * 100_000),
    "a yes with an error's status": told(YES).replace(b"200 OK", b"500 Oh"),
    "a yes for another": told(YES).replace(b"200 OK", b"401 No"),
    "a redirection": http(b"", "302 Found", "Location: /v1/data/suma/decision"),
    "no content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "a packed yes": http(zlib.compress(told(YES).partition(b"\r\n\r\n")[2]), "200 OK", "Content-Encoding: deflate"),
    "another protocol": b"SSH-2.0-OpenSSH_9.9\r\n",
    "an end": b"",
    "a yes to everything": told(YES),
    "no answer at all": told(None),
    "true to everything": told(True),
}


@pytest.mark.requirement("A8", "P4")
@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=[name.replace(" ", "-") for name in GARBAGE])
async def test_malformed_response_is_no_answer_and_degrades_readiness(garbage: bytes) -> None:
    async with lying(garbage) as liar, connected(liar.url) as policy:
        with pytest.raises(PolicyUnanswered):
            await policy.decide("conversation.send", SPEAK)
        assert not await policy.reload()
        assert policy.problem
        assert policy.revision == ""


@pytest.mark.requirement("A8")
@pytest.mark.parametrize("head", [http(b"", length=1 << 40), b"HTTP/1.1 200 OK\r\nX: "])
async def test_an_answer_that_never_ends_is_cut(head: bytes) -> None:
    endless = b" " * (ANSWER_BYTES_MOST // 4)
    async with lying(head, endless=endless) as liar, connected(liar.url, deadline=SECONDS) as policy:
        with pytest.raises(PolicyUnanswered):
            await policy.decide("conversation.send", SPEAK)


@pytest.mark.requirement("A8")
@pytest.mark.parametrize(
    "yes", [{**YES, "allowed": 1}, {**YES, "rule": None}, {**YES, "obligations": "approval"}, True]
)
async def test_malformed_yes_allows_nothing(yes: object) -> None:
    async with lying(told(yes), told(NO)) as liar, connected(liar.url, deadline=SECONDS) as policy:
        decision = await policy.decide("conversation.send", SPEAK)
    assert (decision.allowed, decision.rule) == (False, "malformed")


@pytest.mark.requirement("S3-52")
async def test_bundle_swapped_before_its_trial_leaves_the_question_unanswered() -> None:
    answers = (told(YES, revision="1" * 64), told(NO, revision="2" * 64), told(YES, revision="2" * 64))
    async with lying(*answers) as liar, connected(liar.url, deadline=SECONDS) as policy:
        with pytest.raises(PolicyUnanswered, match="changed its bundle"):
            await policy.decide("conversation.send", SPEAK)
        assert (await policy.decide("conversation.send", SPEAK)).revision == "2" * 64


async def test_token_is_sent_with_questions_and_never_shown() -> None:
    async with lying(http(b"", "401 Unauthorized")) as liar:
        async with connected(liar.url, token="hush", deadline=SECONDS) as policy:
            with pytest.raises(PolicyUnanswered) as refused:
                await policy.decide("conversation.send", SPEAK)
            await policy.reload()
        assert all(b"Bearer hush" in head for head in liar.heard)
        assert "hush" not in f"{refused.value!r} {policy.problem}"


@pytest.mark.requirement("S3-52")
def test_publishing_prints_the_revision_of_the_bundle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SHIPPED), str(tmp_path / "out" / "suma.tar.gz")]) == 0
    assert capsys.readouterr().out.strip() == Bundle.read(SHIPPED).revision
    assert (tmp_path / "out" / "suma.tar.gz").read_bytes() == Bundle.read(SHIPPED).archive()


@pytest.mark.requirement("A8")
def test_a_broken_bundle_is_not_published(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(folder), str(tmp_path / "suma.tar.gz")])
    before = (tmp_path / "suma.tar.gz").read_bytes()
    bundle(folder, deciding("true"))
    assert main([str(folder), str(tmp_path / "suma.tar.gz")]) == 1
    assert "do not deny an empty question" in capsys.readouterr().err
    assert (tmp_path / "suma.tar.gz").read_bytes() == before


@pytest.mark.requirement("S3-52")
async def test_a_served_bundle_is_replaced_by_a_sound_one_alone(folder: Path) -> None:
    with serving(Tried(folder)) as url:
        async with httpx.AsyncClient(base_url=url) as web:
            first = await web.get("/suma.tar.gz")
            assert (first.status_code, first.headers["ETag"]) == (200, Bundle.read(folder).revision)
            unchanged = await web.get("/suma.tar.gz", headers={"If-None-Match": first.headers["ETag"]})
            assert (unchanged.status_code, unchanged.content) == (304, b"")
            bundle(folder, deciding("true"))
            assert (await web.get("/suma.tar.gz")).status_code == 500
            bundle(folder, settings={"max_message_length": 2})
            assert (await web.get("/suma.tar.gz")).headers["ETag"] == Bundle.read(folder).revision
            assert (await web.get("/")).status_code == 404


@pytest.mark.requirement("S3-52")
async def test_readiness_says_that_the_server_has_another_bundle(folder: Path, server: Served) -> None:
    expected = Bundle.read(folder).revision
    async with connected(server.url, deadline=SECONDS, expected=expected) as policy:
        platform = SimpleNamespace(policy=policy)
        assert await _policy(cast("Platform", platform)) == expected
        bundle(folder, settings={"max_message_length": 2})
        await until(policy, lambda: policy.revision != expected)
        told = await _policy(cast("Platform", platform))
    assert told.startswith(f"{Bundle.read(folder).revision}; not the expected bundle {expected}")
