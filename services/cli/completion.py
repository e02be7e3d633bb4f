"""Shell completion of IDs and names: ask the platform what exists.

It answers within a second or offers nothing: a person is typing, and an error would appear inside their command line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

COMPLETE_SECONDS = 1.0
OFFERED = 100

Offered = list[tuple[str, str]]
"""Values, each with a description that zsh and fish show beside it."""
Complete = Callable[[str], Offered]


def _listed(path: str, name: str, *, id: str, about: str, **params: str | int) -> Complete:
    """Return a completion of the objects that a route lists under `name`."""

    def complete(incomplete: str) -> Offered:
        offered = ((str(one[id]), _line(one.get(about))) for one in _read(path, params).get(name, ()))
        return [(value, help) for value, help in offered if value.startswith(incomplete)]

    return complete


def _read(path: str, params: dict[str, Any]) -> dict[str, Any]:
    # Imported here: every command imports this module, and few ask the platform.
    from libs.errors import SumaError
    from services.cli.address import find
    from services.cli.client import Client

    try:
        with Client(find(), seconds=COMPLETE_SECONDS) as client:
            return dict(client.get(path, **params))
    except SumaError:
        return {}


def _line(about: object) -> str:
    from services.cli import words

    return words.line(str(about or ""), 60)


sessions = _listed("/v1/sessions", "sessions", id="session_id", about="title", limit=OFFERED)
effects = _listed("/v1/effects", "effects", id="approval_id", about="kind", limit=OFFERED)
dead_letters = _listed("/v1/admin/dlq", "letters", id="letter_id", about="error", limit=OFFERED)
waiting_events = _listed("/v1/admin/requeue", "waiting", id="id", about="event_type", limit=OFFERED)
agents = _listed("/v1/agents", "agents", id="name", about="role")
skills = _listed("/v1/skills", "skills", id="name", about="description")
knowledge = _listed("/v1/knowledge", "bases", id="name", about="source")


def remote_tools(incomplete: str) -> Offered:
    """Complete the names of other servers' tools."""
    servers = _read("/v1/admin/tools", {}).get("servers", ())
    offered = ((str(tool["name"]), _line(tool["description"])) for server in servers for tool in server["tools"])
    return [(name, help) for name, help in offered if name.startswith(incomplete)]
