"""Modules of a protocol, which its first request imports: that takes up to half a second, in which the loop goes on."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from services.gateway.surfaces.context import Gateway

_loaded: dict[str, Any] = {}
"""Whole modules. `sys.modules` also has those that another thread is still importing."""


async def loaded(name: str) -> Any:
    """Return a module, imported in a thread the first time."""
    if name not in _loaded:
        _loaded[name] = await asyncio.to_thread(import_module, name)
    return _loaded[name]


async def served(here: Gateway, name: str) -> Any:
    """Return the one object that serves a protocol for this gateway; `name` is `module:class`."""
    module, _, cls = name.partition(":")
    made = getattr(await loaded(module), cls)
    # No await from here on: two first requests get the same object.
    if name not in here.surfaces:
        here.surfaces[name] = made(here)
    return here.surfaces[name]
