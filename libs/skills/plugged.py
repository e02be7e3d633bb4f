"""Tools from outside as the catalogue shows them: beside those of skills, declared in the same terms."""

from __future__ import annotations

import hashlib

from libs.keys.canonical import canonical
from libs.skills.definitions import Effect, ToolDefinition
from libs.tools import Effect as EffectClass
from libs.tools import Tool


def definition(tool: Tool) -> ToolDefinition:
    """What planners, guards, policy and people know of a tool. Whatever may leave the machine is taken to."""
    effect, pure = tool.effect, tool.effect is EffectClass.PURE
    return ToolDefinition(
        name=tool.name,
        skill=tool.name.partition(".")[0],
        description=" ".join(tool.description.split()),
        primitive=None,
        method="",
        mutates=not pure,
        effect=Effect.READ if pure else Effect.ACT,
        params=tool.parameters,
        returns=getattr(tool, "returns", {}),
        declared=effect,
        leaves_machine=getattr(tool, "leaves_machine", True),
        digest=hashlib.sha256(canonical([tool.name, tool.description, tool.parameters, effect.value])).hexdigest(),
    )
