"""The kinds of content that a call touches, by its tool and its paths."""

from __future__ import annotations

from typing import Any

import pytest

from libs.events import NAMES, NOTHING, ToolRequested, Touched
from services.tool_executor import touched
from services.tool_executor.tools.tool_context import READS_MOST
from services.tool_executor.touched import CONTENTS, PAGE
from tests.support import platform


def request(tool: str, **args: Any) -> ToolRequested:
    about: dict[str, Any] = {"call_id": "c", "turn_id": "t", "plan_id": "p", "step_id": "s", "ordinal": 1, "epoch": 0}
    return ToolRequested(**about, tool=tool, args=args, deadline=1, principal="ada", grant="")


@pytest.mark.parametrize(
    ("tool", "args", "kinds"),
    [
        ("workspace.commit", {}, NAMES),
        ("manage-files.list", {"path": "."}, NAMES),
        ("manage-files.list", {"path": ".", "lacking": "paid"}, CONTENTS),
        ("edit-files.find", {"pattern": "*.env"}, NAMES),
        ("edit-files.read", {"path": "notes.txt"}, CONTENTS),
        ("edit-files.read", {"path": "app/.env"}, Touched()),
        ("parse-content.parse", {"path": "KEYS/Server.PEM"}, Touched()),
        ("parse-content.parse", {"path": ".ssh/config"}, Touched()),
        ("manage-files.import", {}, CONTENTS),
        ("run-commands.run", {"command": "ls"}, Touched()),
        ("web.fetch", {"url": "https://example.org"}, PAGE),
        ("skills.use", {"name": "web"}, NOTHING),
        ("gone.tool", {}, Touched()),
    ],
)
def test_call_touches_the_kinds_of_its_tool(tool: str, args: dict[str, Any], kinds: Touched) -> None:
    assert touched.by(platform.skills(), request(tool, **args)) == kinds


@pytest.mark.parametrize(
    ("reads", "secret"), [(["a.txt"], False), (["a.txt", "id_rsa"], True), (["a"] * READS_MOST, True)]
)
def test_result_touches_the_names_of_its_paths(reads: list[str], secret: bool) -> None:
    found = touched.by(platform.skills(), request("search-files.search", query="x"), reads)
    assert found == CONTENTS.model_copy(update={"secret": secret})


def test_paths_in_a_blob_count_as_secret() -> None:
    large = request("summarize.summarize", paths={"$blob": "0" * 64, "size": 1})
    assert touched.by(platform.skills(), large) == Touched()
