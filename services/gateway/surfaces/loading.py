"""Modules of a protocol, which its first request imports: that takes up to half a second, in which the loop goes on."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

_loaded: dict[str, Any] = {}
"""Whole modules. `sys.modules` also has those that another thread is still importing."""


async def loaded(name: str) -> Any:
    """Return a module, imported in a thread the first time."""
    if name not in _loaded:
        _loaded[name] = await asyncio.to_thread(import_module, name)
    return _loaded[name]
