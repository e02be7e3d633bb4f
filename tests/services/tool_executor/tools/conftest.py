"""A staged folder: bundled tools on a real folder, staged, committed and rolled back as the executor does it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from libs.skills import Categories
from libs.workspace.blob_cache import BlobCache
from libs.workspace.commit import commit
from libs.workspace.engine import no_fence
from libs.workspace.rollback import rollback
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from services.tool_executor.tools.limits import Limits
from services.tool_executor.tools.primitives import PRIMITIVES
from services.tool_executor.tools.tool_context import ToolContext, ToolOutput, no_cancel
from tests.support.platform import REPOSITORY, skills

CATEGORIES = REPOSITORY / "skills" / "organize-by-type" / "references" / "categories.yaml"


@dataclass
class StagedFolder:
    root: Path
    blob_caches: Path
    limits: Limits = field(default_factory=Limits)
    check: Callable[[], None] = no_cancel
    looked_into: int = 5_000
    stage: Stage = field(init=False)

    def __post_init__(self) -> None:
        self.scan()

    def scan(self) -> None:
        self.stage = Stage(Tree.scan(self.root), BlobCache(self.blob_caches))

    def write(self, name: str, content: str | bytes = b"", *, at: str | None = None, mode: int = 0o644) -> Path:
        """A file, with a date of change where one is given; the folder sees it after the next `scan`."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)
        if at is not None:
            when = datetime.fromisoformat(f"{at}+00:00").timestamp()
            os.utime(path, (when, when))
        return path

    def files(self, *names: str) -> StagedFolder:
        """Files whose content is their name, and the folder that sees them."""
        for name in names:
            self.write(name, name)
        self.scan()
        return self

    def run(self, name: str, /, *, listed: str = "", **args: Any) -> ToolOutput:
        """What the executor does with a call, from its schema on. `listed`: the arg that an earlier step filled."""
        tool = skills().tool(name)
        given = {**tool.defaults(), **args}
        found = tool.validate(given)
        assert found.valid, found
        context = ToolContext(
            self.stage,
            Categories.load(CATEGORIES),
            tool.mutates,
            reason=name,
            limits=self.limits,
            check=self.check,
            looked_into=self.looked_into,
            listed=frozenset(filter(None, [listed])),
        )
        return PRIMITIVES[tool.method](context, given)

    def listed(self, name: str = "manage-files.list", /, **args: Any) -> list[str]:
        nodes: list[str] = self.run(name, **{"path": ".", **args}).data["nodes"]
        return nodes

    def bounded(self, **limits: int) -> StagedFolder:
        self.limits = Limits.model_validate(self.limits.model_dump() | limits)
        return self

    def commit(self) -> None:
        commit(self.root, self.stage, commit_id="c", fence=no_fence)
        self.scan()

    def roll_back(self) -> None:
        rollback(self.root, "c", fence=no_fence)
        self.scan()

    def seen(self) -> dict[str, Any]:
        """Every file and folder with all that a person could notice, but for what the journal keeps."""
        return {
            str(path.relative_to(self.root)): _facts(path)
            for path in sorted(self.root.rglob("*"))
            if path.relative_to(self.root).parts[0] != ".suma"
        }


def _facts(path: Path) -> tuple[int, int, int, bytes]:
    found = path.lstat()
    content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    return found.st_mode, found.st_mtime_ns, found.st_ino, content


@pytest.fixture
def folder(tmp_path: Path) -> StagedFolder:
    (tmp_path / "work").mkdir()
    return StagedFolder(tmp_path / "work", tmp_path / "blob_caches")
