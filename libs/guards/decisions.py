"""The decision of one link of the chain, as a value that can be recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from libs.guards.blocked import Blocked


@dataclass(frozen=True)
class Decision:
    """One link's decision. `reason` is empty where it allowed; `rule` names what refused."""

    link: str
    allowed: bool
    reason: str = ""
    rule: str = ""


def decided(link: str, check: Callable[[], object]) -> Decision:
    """Run a check and return its decision. An error other than a refusal propagates, so it is never a yes."""
    try:
        check()
    except Blocked as blocked:
        return Decision(link, False, blocked.reason, blocked.rule)
    return Decision(link, True)
