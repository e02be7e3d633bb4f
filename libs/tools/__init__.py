"""Tools that come from outside: the port that they keep, the identity of what they do, and how they are found.

The executor runs them; `libs.skills` lists them beside the tools of skills, for planners, guards and policy.
"""

from libs.tools.intents import identify
from libs.tools.loading import BadTool, checked, load
from libs.tools.ports import Compensable, Effect, Intent, Outcome, Reconcilable, Tool

__all__ = [
    "BadTool",
    "Compensable",
    "Effect",
    "Intent",
    "Outcome",
    "Reconcilable",
    "Tool",
    "checked",
    "identify",
    "load",
]
