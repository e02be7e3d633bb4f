"""Bundles and engines for the tests of the policy port: each engine is a real one, over a real folder."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from deploy.local.opa import opa
from libs.policy import Policy
from libs.policy.opa import connected
from libs.policy.ports import Json
from libs.policy.rego import RegoPolicy

SHIPPED = Path(__file__).parents[3] / "deploy" / "opa"
SECONDS = 60.0
"""The deadline for an engine on a busy machine."""
SCOPED: dict[str, Json] = {"tenant": "acme", "principal": {"id": "ada", "scopes": ["*"]}, "session": "s1"}


def bundle(folder: Path, rules: str | None = None, *, settings: Mapping[str, Json] | None = None) -> Path:
    """Write a copy of the shipped bundle to `folder`, with other rules or settings."""
    folder.mkdir(parents=True, exist_ok=True)
    law = json.loads((SHIPPED / "data.json").read_text())
    law["settings"].update(settings or {})
    (folder / "data.json").write_text(json.dumps(law))
    (folder / "suma.rego").write_text(rules if rules is not None else (SHIPPED / "suma.rego").read_text())
    return folder


def deciding(body: str) -> str:
    """Return rules that allow under `body`."""
    return (
        'package suma\ndefault decision := {"allowed": false, "rule": "default", "reason": "", "obligations": []}\n'
        f'decision := {{"allowed": true, "rule": "one", "reason": "", "obligations": []}} if {{ {body} }}\n'
    )


async def in_force(folder: Path) -> RegoPolicy:
    policy = RegoPolicy(folder, deadline=SECONDS)
    assert await policy.reload(), policy.problem
    return policy


@asynccontextmanager
async def in_process(folder: Path) -> AsyncIterator[Policy]:
    yield await in_force(folder)


@asynccontextmanager
async def by_server(folder: Path) -> AsyncIterator[Policy]:
    async with opa(folder) as server, connected(server.url, deadline=SECONDS) as policy:
        await policy.reload()
        yield policy


ENGINES: dict[str, Callable[[Path], AbstractAsyncContextManager[Policy]]] = {"rego": in_process, "opa": by_server}
"""Each activates the bundle of a folder."""
