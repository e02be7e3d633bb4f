"""Hooks from outside: gates, which are asked before an action and may refuse it, and observers, which read events.

Both are the operator's own code. Each runs in a thread of its own, so that one that hangs or blocks stops nothing else.
"""

from libs.hooks.gates import HOOK_REFUSED, Gates, HookUnavailable, Verdict
from libs.hooks.loading import BadHook, Hook, load
from libs.hooks.ports import GATED, TEXT_MOST, Action, Observed, Point, frozen, shown_args

__all__ = [
    "GATED",
    "HOOK_REFUSED",
    "TEXT_MOST",
    "Action",
    "BadHook",
    "Gates",
    "Hook",
    "HookUnavailable",
    "Observed",
    "Point",
    "Verdict",
    "frozen",
    "load",
    "shown_args",
    "threads",
]
