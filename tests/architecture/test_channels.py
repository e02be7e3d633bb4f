"""Each function of the gateway that goes on telling a caller something is tried against the loss of its access."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.services.gateway.test_lost_access import TELLING, WAITING

GATEWAY = Path(__file__).parents[2] / "services" / "gateway"
ANSWERS = ("Download", "EventSourceResponse", "FileResponse", "ServerSent", "StreamingResponse", "View.of")
LASTING = frozenset((*ANSWERS, "awaiting_end", "follow", "until_the_end", "watch"))
"""Calls that send as long as there is something to send, or that wait for what others do."""
BRIEF = {"sessions/viewer.py:first": "the outcome of a command of the caller, within two seconds"}


def test_every_lasting_channel_has_a_lost_access_test() -> None:
    assert {*_lasting()} - BRIEF.keys() == {*TELLING}
    assert {name for names in TELLING.values() for name in names} == {*WAITING, "download", "export", "webhook"}


def _lasting() -> Iterator[str]:
    """Yield the functions that make such a call, each with its module."""
    for module in GATEWAY.rglob("*.py"):
        for function in ast.walk(ast.parse(module.read_text())):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and any(map(_lasts, ast.walk(function))):
                yield f"{module.relative_to(GATEWAY).as_posix()}:{function.name}"


def _lasts(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)) if name in LASTING:
            return True
        case ast.Call(func=called):
            return ast.unparse(called) in LASTING
    return False
