"""The declaration of a surface: all that the application has to know of a protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter

from libs.runtime import Kind
from services.gateway.http.middleware.protocol_errors import Translate

if TYPE_CHECKING:
    from services.gateway.surfaces.context import Gateway


def _no_kinds(_: Gateway) -> Sequence[Kind[Any]]:
    return ()


@dataclass(frozen=True, slots=True)
class Surface:
    """A protocol over the gateway's turns."""

    router: APIRouter
    translate: Translate | None = None
    """Turns problem documents below its paths into its own error bodies."""
    open: frozenset[str] = frozenset()
    """Paths that need no credentials."""
    inline: frozenset[str] = frozenset()
    """Paths whose JSON may hold files, as data URLs."""
    keeps_body: tuple[str, ...] = ()
    """Paths, with all below them, whose SDK holds the body as long as its answer lasts."""
    kinds: Callable[[Gateway], Sequence[Kind[Any]]] = _no_kinds
    """Its kinds of lease."""
