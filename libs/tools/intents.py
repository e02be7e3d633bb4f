"""The identity of an effect: who, where, which step, which tool, and exactly which args (architecture.md 11)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from libs.keys.canonical import canonical


def identify(*, tenant: str, session: str, step: str, tool: str, args: Mapping[str, Any]) -> str:
    """Return the intent's id: SHA-256, in hex, over its canonical JSON, independent of spelling and order.

    Raises:
        Uncanonical: the args hold what JSON cannot express.
    """
    content = {"tenant": tenant, "session": session, "step": step, "tool": tool, "args": args}
    return hashlib.sha256(canonical(content)).hexdigest()
