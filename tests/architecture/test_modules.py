"""The form of every module (house style 4, 13, 20): docstrings, narrow excepts, used names, no unfinished code."""

from __future__ import annotations

import ast
import gc
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TypeGuard

import grimp

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    file.relative_to(ROOT)
    for folder in ("libs", "services", "tests", "tools")
    for file in (ROOT / folder).rglob("*.py")
    if (ROOT / file).stat().st_size
)
SOURCE = [module for module in MODULES if module.parts[0] != "tests"]
DEPLOY = [file.relative_to(ROOT) for file in sorted((ROOT / "deploy").rglob("*.py"))]
HOST = ("libs", "runtime")
"""The host handles any error of its services."""
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")

UNUSED = {
    "check_command": "the guard of a shell tool (S4-30)",
    "create_database": "the tests of many platforms on one server",
    "do_GET": "the standard library calls it",
    "drop_database": "the tests of many platforms on one server",
    "seekable": "the standard library calls it",
}
"""Public names without a use in the source, and why each stays."""


# Each test checks all modules: one test per module would be a fifth of all tests.


def test_every_module_opens_with_its_story() -> None:
    assert [str(module) for module in SOURCE if not ast.get_docstring(parsed(module))] == []


def test_no_module_imports_its_own_user() -> None:
    """Imports for types count as well."""
    graph = grimp.build_graph("libs", "services")
    TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules}).prepare()


def test_public_functions_and_classes_are_used() -> None:
    """Names that a decorator registers count as used."""
    sources = [module for module in SOURCE if module.parts[0] != "tools"]
    others = [file for folder in ("libs", "services", "skills") for file in (ROOT / folder).rglob("*.[sy][qa]*l")]
    texts = [file.read_text() for file in (*(ROOT / module for module in sources), *others)]
    words = Counter(word for text in texts for word in re.findall(r"\w+", text))
    unused = {name: str(module) for module in sources for name in _plain_names(module) if words[name] < 2}
    assert unused.keys() - UNUSED.keys() == set(), unused


def test_names_of_modules_are_used() -> None:
    """Constants, aliases and type variables: in their module, by an import, or as an attribute."""
    sources = [module for module in (*SOURCE, *DEPLOY) if module.parts[0] != "tools"]
    used = {"__all__", *(name for module in sources for name in _names_from_outside(module))}
    assert {str(module): unused for module in sources if (unused := {*_assigned(module)} - used - _read(module))} == {}


def test_nothing_is_left_for_later() -> None:
    assert [str(module) for module in MODULES if UNFINISHED.search((ROOT / module).read_text())] == []


def test_only_the_host_catches_everything() -> None:
    """Findings name file and line."""
    modules = [module for module in SOURCE if module.parts[:2] != HOST]
    assert [f"{module}:{line}" for module in modules for line in _lines_that_catch_everything(module)] == []


@cache
def parsed(module: Path) -> ast.Module:
    # A finalizer may log a traceback, which parses too: inside another parse that is a SystemError in Python 3.11.
    gc.disable()
    try:
        return ast.parse((ROOT / module).read_text())
    finally:
        gc.enable()


def _lines_that_catch_everything(module: Path) -> Iterator[int]:
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.ExceptHandler) and _catches_everything(node):
            yield node.lineno


def _catches_everything(node: ast.ExceptHandler) -> bool:
    named = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    names = {name.id for name in named if isinstance(name, ast.Name)}
    undoes = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
    return not undoes and (node.type is None or not names.isdisjoint({"Exception", "BaseException"}))


def _plain_names(module: Path) -> Iterator[str]:
    """Yield the public functions and classes without a decorator, and the properties."""
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            plain = all(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)
            if plain and not node.name.startswith("_"):
                yield node.name


def _assigned(module: Path) -> Iterator[str]:
    """Yield the names that a module assigns at its top level."""
    for node in parsed(module).body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if _is_annotated(node) else []
        yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))


def _is_annotated(node: ast.stmt) -> TypeGuard[ast.AnnAssign]:
    return isinstance(node, ast.AnnAssign)


def _read(module: Path) -> set[str]:
    """Return the names that a module reads, those in the quoted type of a cast as well."""
    read = set[str]()
    for node in ast.walk(parsed(module)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Call(func=ast.Name(id="cast"), args=[ast.Constant(str() as quoted), *_]):
                read.update(re.findall(r"\w+", quoted))
    return read


def _names_from_outside(module: Path) -> Iterator[str]:
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute):
            yield node.attr
