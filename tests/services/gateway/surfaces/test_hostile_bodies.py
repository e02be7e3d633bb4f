"""Bodies made to be expensive: each is refused, or read, for little work, so that everybody else is still served."""

from __future__ import annotations

import re
import time

import httpx
import pytest

from services.gateway.http.values import VALUES_MOST, is_crowded
from tests.support.stack import Stack

MANY = VALUES_MOST - 100
"""Almost as many values as a body may hold."""


def run(messages: str) -> str:
    fixed = '"threadId":"t","runId":"r","state":{},"tools":[],"context":[],"forwardedProps":{}'
    return f'{{{fixed},"messages":[{messages}]}}'


def chat(message: str, more: str = "") -> str:
    return f'{{"model":"suma"{more},"messages":[{message}]}}'


def task(parts: str) -> str:
    message = f'{{"messageId":"m","role":"ROLE_USER","parts":[{parts}]}}'
    return f'{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{message}}}}}'


def call(args: str) -> str:
    return f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"suma_run","arguments":{args}}}}}'


ROUTES = {
    "/v1/sessions/message": '{{"text":"x","attachments":[{}]}}',
    "/v1/approvals/none": '{{"verdict":"override","digest":"d","exclude":[{}]}}',
    "/v1/admin/keys": '{{"principal":"p","scopes":[{}]}}',
    "/v1/responses": '{{"model":"suma","input":[{}]}}',
    "/v1/chat/completions": "",
    "/agui": "",
    "/a2a": "",
    "/mcp": "",
}


def body_of(route: str, items: str) -> str:
    match route:
        case "/agui":
            return run(items)
        case "/a2a":
            return task(items)
        case "/mcp":
            return call(f'{{"text":[{items}]}}')
        case "/v1/chat/completions":
            return chat(f'{{"role":"user","content":[{items}]}}')
        case _:
            return ROUTES[route].format(items)


@pytest.mark.requirement("A22")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("item", "number"), [("{}", MANY // 2), ("[]", MANY // 2), ("{}", 300_000), ("[]", 2_000_000)])
async def test_expensive_body_is_refused_for_little_work(stack: Stack, route: str, item: str, number: int) -> None:
    body = body_of(route, ",".join([item] * number)).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    async with stack.api() as api:
        await api.post(route, content=body_of(route, item).encode(), headers=headers)
        began = time.process_time()
        refused = await api.post(route, content=body, headers=headers)
        took = time.process_time() - began
    assert took < 1.0
    assert httpx.codes.is_client_error(refused.status_code) or "error" in refused.text
    if number > MANY:
        assert re.search(r"more than (?:25|5),000 values|send less", refused.text)


@pytest.mark.parametrize(
    ("text", "crowded"),
    [
        (b'{"text": "' + b"a, b: [c], {d} " * 100_000 + b'"}', False),
        (b'{"text": "' + b'\\", ' * 100_000 + b'"}', False),
        (b"[" + b"1," * (VALUES_MOST - 2) + b"1]", False),
        (b"[" + b"1," * (VALUES_MOST + 2) + b"1]", True),
        (b"[" + b'"",' * (VALUES_MOST + 2) + b'""]', True),
        (b"[" * 1_000_000, True),
        (b'"' * 1_000_001, False),
        (b"", False),
    ],
    ids=["prose", "escapes", "few numbers", "numbers", "strings", "nesting", "no JSON", "nothing"],
)
def test_values_are_counted_outside_strings(text: bytes, crowded: bool) -> None:
    assert is_crowded(text) is crowded
