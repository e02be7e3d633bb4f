"""The state that all rooms share, and the dependency that hands a route the state of its room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Depends
from fastapi.requests import HTTPConnection

from libs.runtime import Platform
from services.gateway.http.store import Receipts
from services.gateway.settings import Settings


@dataclass(frozen=True)
class Room:
    """The state that a room's routes share; each room adds its own."""

    platform: Platform
    settings: Settings
    receipts: Receipts


def state_of(room: str) -> Any:
    """Return the dependency that hands a route the state of a room."""

    async def state(connection: HTTPConnection) -> Any:
        return getattr(connection.app.state, room)

    return Depends(state)
