"""A conversation about one task with a platform, as a client library holds it."""

from __future__ import annotations

from typing import Protocol

CLARIFICATION, APPROVAL = "clarification", "approval"
WITHIN = 120.0
"""Seconds for what only a broken platform does not do."""


class Conversation(Protocol):
    """One task in one folder. Every verb is the library's own way, over one address."""

    async def say(self, text: str) -> str:
        """Begin a turn, or answer its clarification; return the kind of its question, or the state of its end."""
        ...

    async def approve(self, *, without: str | None = None) -> str:
        """Approve, perhaps without one of the listed parts; return as `say`."""
        ...

    async def cancel(self) -> str:
        """Cancel the turn while it asks; return its state."""
        ...

    async def begin(self, text: str) -> None:
        """Begin a turn, and leave its call open."""
        ...

    async def rejoin(self) -> None:
        """Return to the open call after its server was killed and started again."""
        ...

    async def end(self) -> str:
        """Return the answer with which the open call ends."""
        ...
