"""A query of a service in the same process answers as its API does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from libs import ids
from libs.clients.executor import workspace_facts
from libs.clients.memory import recall
from libs.database import Dsns
from libs.runtime.host import prepare
from tests.support.platform import build_platform


async def test_near_queries_answer_as_the_apis_do(where: Dsns, tmp_path: Path) -> None:
    async with build_platform(where, tmp_path, names=("tool_executor", "memory_service")) as (platform, services):
        await prepare(platform, services)
        (tmp_path / "root" / "a.txt").write_text("hello")
        far, session = replace(platform, near={}), ids.new()
        for caller in (platform, far):
            facts = await workspace_facts(caller, "local", session, str(tmp_path / "root"), ids.new())
            assert (facts["names"], facts["files"]) == (["a.txt"], 1)
            assert await recall(caller, "local", session, "hello", "ada", 5) == []
