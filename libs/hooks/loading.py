"""Load hooks: only those that the settings name, compared with their pin before the import, as tools are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import iscoroutinefunction, isfunction
from typing import Any

from libs.errors import Rejected
from libs.hooks.ports import Point
from libs.tools import attribute
from libs.tools.loading import PIN

GROUP = "suma.hooks"


class BadHook(Rejected):
    """A hook cannot be used as it is declared."""

    code = "BAD_HOOK"


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook at one point. `digest` is the SHA-256 of its module's file, for the audit log."""

    point: Point
    name: str
    call: Callable[[Any], Awaitable[Any]]
    digest: str = ""


def load(names: Mapping[Point, Sequence[str]]) -> tuple[Hook, ...]:
    """Load the hooks of each point, in order. Raises BadHook: one is missing, does not match its pin, or is no
    coroutine function.
    """
    return tuple(_hook(point, name) for point, each in names.items() for name in each)


def _hook(point: Point, name: str) -> Hook:
    call, digest = attribute(name, group=GROUP, bad=BadHook)
    # An instance may be callable by a coroutine method.
    asked = call if isfunction(call) or isinstance(call, type) else type(call).__call__ if callable(call) else None
    if not iscoroutinefunction(asked):
        raise BadHook(f"{name}: a hook is a coroutine function of one argument")
    return Hook(point, name.partition(PIN)[0], call, digest)
