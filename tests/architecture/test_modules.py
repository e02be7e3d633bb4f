"""How every module reads (house style 4, 13, 20): by its own account, catching what it can answer, finished."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    file.relative_to(ROOT)
    for folder in ("libs", "services", "tests", "tools")
    for file in (ROOT / folder).rglob("*.py")
    if (ROOT / file).stat().st_size
)
SOURCE = [module for module in MODULES if module.parts[0] != "tests"]
HOST = ("libs", "runtime")
"""The host answers for whatever its services throw."""
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")


@cache
def _tree(module: Path) -> ast.Module:
    return ast.parse((ROOT / module).read_text())


@pytest.mark.parametrize("module", SOURCE, ids=str)
def test_a_module_opens_with_its_story(module: Path) -> None:
    assert ast.get_docstring(_tree(module)), f"{module} says nothing of itself"


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_nothing_is_left_for_later(module: Path) -> None:
    assert not UNFINISHED.search((ROOT / module).read_text())


@pytest.mark.parametrize("module", [m for m in SOURCE if m.parts[:2] != HOST], ids=str)
def test_only_the_host_catches_everything(module: Path) -> None:
    handlers = [node for node in ast.walk(_tree(module)) if isinstance(node, ast.ExceptHandler)]
    caught = [handler.lineno for handler in handlers if _catches_everything(handler)]
    assert caught == [], f"{module} catches everything in lines {caught}"


def _catches_everything(node: ast.ExceptHandler) -> bool:
    named = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    names = {name.id for name in named if isinstance(name, ast.Name)}
    undoes = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
    return not undoes and (node.type is None or not names.isdisjoint({"Exception", "BaseException"}))
