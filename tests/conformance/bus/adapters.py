"""Every adapter of the bus port. Each answers for a whole process's platform, relay included, on a prepared
database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType
from typing import TypeAlias

from libs.runtime.platform import Platform
from tests import infrastructure

Rig: TypeAlias = Callable[..., AbstractAsyncContextManager[Platform]]
"""(dsns, member's name, **ports) → the platform of one process."""

ADAPTERS: Mapping[str, Rig] = MappingProxyType({"postgres": infrastructure.platform})
