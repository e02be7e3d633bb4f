"""Load tools: import what the settings name, compare its pin before, and check its promises after.

A name is `module:attribute`, or an entry point of the group `suma.tools`; a suffix `@sha256:…` pins the module's file,
so that other code under the same name is not run (S3-56). The attribute is a tool, or returns tools when called.
Nothing is loaded that is not named.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from libs.errors import Rejected
from libs.tools.ports import Effect, Tool

GROUP = "suma.tools"
PIN = "@sha256:"
NEEDED = ("description", "parameters", "effect", "run")
VERBS = {Effect.RECONCILABLE: "probe", Effect.COMPENSABLE: "undo"}
"""The methods that a class requires besides `run`."""


class BadTool(Rejected):
    """A tool cannot be used as it is declared."""

    code = "BAD_TOOL"


def load(names: Iterable[str]) -> tuple[Tool, ...]:
    """Load the tools of these names, in order.

    Raises:
        BadTool: it is missing, does not match its pin, or lacks what its class requires.
    """
    return checked([tool for name in names for tool in _named(name)])


def checked(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return the same tools once each is fit for use and names are unique. Raises BadTool."""
    names = [tool.name for tool in map(_fit, tools)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadTool(f"{', '.join(twice)}: more than one tool has this name")
    return tuple(tools)


def attribute(name: str, *, group: str = GROUP, bad: type[Rejected] = BadTool) -> tuple[Any, str]:
    """Return what a name means, and the SHA-256 of its module's file; empty if it has none.

    Raises:
        bad: it is missing, or does not match its pin. Then nothing of it has run.
    """
    where, _, pin = name.partition(PIN)
    module, _, path = (where if ":" in where else _entry_point(where, group, bad)).partition(":")
    digest = _digest(module)
    # Before the import, so that code with another digest does not run.
    if pin and not digest:
        raise bad(f"{module}: there is no file to compare with its pin")
    if pin and digest != pin.lower():
        raise bad(f"{module}: its file is not the one that was pinned")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise bad(f"{name}: {error}") from error
    return found, digest


def _named(name: str) -> Sequence[Tool]:
    found, _ = attribute(name)
    return [found] if hasattr(found, "run") and not isinstance(found, type) else _given(name, found)


def _entry_point(name: str, group: str, bad: type[Rejected]) -> str:
    found = next(iter(entry_points(group=group, name=name)), None)
    if found is None:
        raise bad(f"{name}: no installed package offers such an entry point of {group}, and it is no module:name")
    return found.value


def _digest(module: str) -> str:
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return ""
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return ""
    return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()


def _given(name: str, make: Any) -> Sequence[Tool]:
    """Normalise what a callable returns: one tool or several."""
    if not callable(make):
        raise BadTool(f"{name}: neither a tool nor a callable that gives tools")
    made = make()
    return list(made) if isinstance(made, Iterable) else [cast("Tool", made)]


def _fit(tool: Tool) -> Tool:
    name = getattr(tool, "name", None)
    if not isinstance(name, str) or not name.isprintable() or "." not in name.strip("."):
        raise BadTool(f"{name or type(tool).__name__}: a tool's name has the form family.verb")
    if lacking := [needed for needed in NEEDED if not hasattr(tool, needed)]:
        raise BadTool(f"{name}: it has no {' and no '.join(lacking)}")
    _fit_class(name, tool)
    _fit_parameters(name, tool.parameters)
    return tool


def _fit_class(name: str, tool: Tool) -> None:
    effect: Any = tool.effect
    if not isinstance(effect, Effect) or effect is Effect.STAGED:
        raise BadTool(f"{name}: {effect!r} is no effect class of a tool from outside")
    verb = VERBS.get(effect)
    if verb is not None and not callable(getattr(tool, verb, None)):
        raise BadTool(f"{name}: a tool that is {tool.effect} has the verb `{verb}`, and this one does not")


def _fit_parameters(name: str, parameters: Any) -> None:
    try:
        Draft202012Validator.check_schema(parameters)
    except SchemaError as wrong:
        raise BadTool(f"{name}: its parameters are no JSON Schema: {wrong.message}") from wrong
    if parameters.get("type") != "object" or not isinstance(parameters.get("properties"), dict):
        raise BadTool(f"{name}: its parameters are a JSON Schema of an object with properties")
