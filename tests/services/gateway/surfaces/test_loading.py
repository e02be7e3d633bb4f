"""Modules that the first request of a protocol imports."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from services.gateway.surfaces.loading import loaded

SLOW = """
import gate
gate.begun.set()
gate.go_on.wait(60)
value = 1
"""


async def test_second_request_waits_for_the_whole_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    monkeypatch.setitem(sys.modules, "gate", SimpleNamespace(begun=begun, go_on=go_on))
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "imported_slowly.py").write_text(SLOW)

    async def value() -> Any:
        return (await loaded("imported_slowly")).value

    first = asyncio.ensure_future(value())
    await asyncio.to_thread(begun.wait, 60)
    second = asyncio.ensure_future(value())
    # The second one has asked before the import ends.
    await asyncio.sleep(0)
    go_on.set()
    assert [await first, await second] == [1, 1]
