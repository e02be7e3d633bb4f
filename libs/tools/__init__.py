"""Tools from outside: the port that they implement, the identity of their effects, and their loading.

The executor runs them; `libs.skills` lists them beside the skills' tools, for planners, guards and policy.
"""

from libs.tools.intents import identify
from libs.tools.loading import BadTool, attribute, checked, load
from libs.tools.ports import Compensable, Effect, Intent, Outcome, Reconcilable, Tool

__all__ = [
    "BadTool",
    "Compensable",
    "Effect",
    "Intent",
    "Outcome",
    "Reconcilable",
    "Tool",
    "attribute",
    "checked",
    "identify",
    "load",
]
