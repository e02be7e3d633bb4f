"""The pages of docs/connect, run as they are written, but for address, key and folder."""

from __future__ import annotations

import asyncio
import io
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from deploy.local.cache import Unprovided
from deploy.local.web import node
from tests import peers
from tests.infrastructure import agui
from tests.services.gateway.surfaces.clients import DUPLICATES, names
from tests.support.stack import Stack

ROOT = Path(__file__).parents[4]
PAGES = ROOT / "docs" / "connect"
FOLDER = "/home/ada/Downloads"
SECONDS = 120.0
GIVEN = re.compile(r"^(pip|npm|export) ")
"""Commands that the tests have done: packages, address and key."""


def blocks(page: str, language: str, folder: Path | None = None) -> str:
    """Return all code of a page in a language, for this folder."""
    text = (PAGES / page).read_text()
    found = "\n".join(re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL))
    assert found, f"{page} has no {language}"
    return found.replace(FOLDER, str(folder)) if folder is not None else found


def address(stack: Stack) -> Mapping[str, str]:
    """Return what the pages export."""
    openai = {"OPENAI_BASE_URL": f"{stack.url}/v1", "OPENAI_API_KEY": stack.key}
    return {**openai, "SUMA_URL": stack.url, "SUMA_KEY": stack.key}


async def run(stack: Stack, *command: str, at: Path | None = None) -> str:
    pipe = asyncio.subprocess.PIPE
    environment = {"PATH": os.environ["PATH"], "HOME": "/", **address(stack)}
    process = await asyncio.create_subprocess_exec(*command, cwd=at, env=environment, stdout=pipe, stderr=pipe)
    async with asyncio.timeout(SECONDS):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def executed(stack: Stack, code: str, patch: pytest.MonkeyPatch) -> str:
    """Run a page's Python in a thread of this process, which has its packages loaded; return what it prints."""
    for name, value in address(stack).items():
        patch.setenv(name, value)
    printed = io.StringIO()

    def work() -> None:
        known: dict[str, Any] = {"print": lambda *said: print(*said, file=printed)}
        exec(compile(code, "page", "exec"), known)

    async with asyncio.timeout(SECONDS):
        await asyncio.to_thread(work)
    return printed.getvalue()


async def shell(stack: Stack, page: str, folder: Path | None = None, at: Path | None = None) -> str:
    """Run a page's commands, but for those that the tests have done."""
    lines = [line for line in blocks(page, "sh", folder).splitlines() if not GIVEN.match(line)]
    return await run(stack, "bash", "-euo", "pipefail", "-c", "\n".join(lines), at=at)


def test_every_page_is_linked_and_tested() -> None:
    readme = (ROOT / "README.md").read_text()
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    pages = [page.name for page in PAGES.iterdir()]
    assert [name for name in pages if f"(docs/connect/{name})" not in readme] == []
    assert [name for name in pages if f'"{name}"' not in tests] == []


async def test_shell_of_openai_page_lists_suma(stack: Stack) -> None:
    assert '"suma"' in await shell(stack, "openai.md")


async def test_curl_page_works(stack: Stack, tmp_path: Path) -> None:
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    folder = stack.folder("curl page", **DUPLICATES)
    said = (await shell(stack, "curl.md", folder, at=tmp_path)).splitlines()
    assert "1 message.accepted " in said
    answer, cancelled, _, content = said[-4:]
    assert answer.startswith("Removed 2 duplicate files.")
    assert (cancelled, content) == ("cancelled", "three bikes")
    assert names(folder) == ["b.txt", "d.txt", "kept.txt"]


async def test_a2a_page_works(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stack.folder("a2a page", **DUPLICATES)
    said = await executed(stack, blocks("a2a.md", "python", folder), monkeypatch)
    assert "Reply “approve" in said
    assert "Removed 2 duplicate files." in said
    assert names(folder) == ["b.txt", "d.txt", "kept.txt"]


async def test_python_of_openai_page_works(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stack.folder("openai page", **DUPLICATES)
    said = await executed(stack, blocks("openai.md", "python", folder), monkeypatch)
    assert "Removed 1 duplicate file." in said
    assert names(folder) == ["Documents"]


async def test_pydantic_ai_page_works(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stack.folder("pydantic page", **DUPLICATES)
    said = await executed(stack, blocks("pydantic-ai.md", "python", folder), monkeypatch)
    assert "Removed 2 duplicate files." in said
    assert names(folder) == ["b.txt", "d.txt", "kept.txt"]


async def test_langgraph_page_works(stack: Stack) -> None:
    try:
        interpreter = await peers.python("agents")
    except RuntimeError as reason:
        pytest.skip(str(reason))
    folder = stack.folder("langgraph page", **DUPLICATES)
    said = await run(stack, interpreter, "-c", blocks("langgraph.md", "python", folder))
    assert "Removed 2 duplicate files." in said
    assert names(folder) == ["b.txt", "d.txt", "kept.txt"]


async def test_ag_ui_page_works(stack: Stack) -> None:
    try:
        place, program = agui.package(), node() / "bin/node"
    except Unprovided as reason:
        pytest.skip(str(reason))
    folder = stack.folder("agui page", **DUPLICATES)
    code = blocks("ag-ui.md", "js", folder)
    said = await run(stack, str(program), "--input-type=module", "-e", code, at=place)
    assert "Removed 2 duplicate files." in said
    assert names(folder) == ["b.txt", "d.txt", "kept.txt"]
