"""Random operations that are valid in any tree: numbers choose among the existing paths."""

from __future__ import annotations

from hypothesis import strategies as st

from libs.errors import Rejected
from libs.workspace.operations import AnyOperation, Copy, Create, Delete, Move, Rename, Write
from libs.workspace.stage import Applied, Stage
from tests.libs.workspace.trees import text

Action = tuple[str, int, int]
KINDS = ("create", "folder", "write", "move", "move", "rename", "copy", "delete")
NAMES = ("a", "A", "README", "readme", "été.txt", "x\\\\y", "caf\\xe9", "z.pdf", "docs", "photos")
ACTIONS = st.tuples(st.sampled_from(KINDS), st.integers(0, 99), st.integers(0, 99))


def act(stage: Stage, action: Action) -> Applied | None:
    """Apply the operation; return None if the stage refused it."""
    try:
        return stage.apply(operation(stage, action))
    except Rejected:
        return None


def operation(stage: Stage, action: Action) -> AnyOperation:
    kind, one, two = action
    paths = [node.path for node in stage.walk(".")] or ["none"]
    folders = [".", *(node.path for node in stage.walk(".") if node.kind == "directory")]
    subject, name = paths[one % len(paths)], NAMES[two % len(NAMES)]
    target = f"{folders[two % len(folders)]}/{name}"
    match kind:
        case "create":
            return Create(path=target, content=text(f"created {one}"))
        case "folder":
            return Create(path=target, directory=True)
        case "write":
            return Write(path=subject, content=text(f"written {two}"))
        case "move":
            return Move(path=subject, target=target)
        case "rename":
            return Rename(path=subject, new_name=name)
        case "copy":
            return Copy(path=subject, target=target)
        case _:
            return Delete(path=subject)
