"""External tools as the catalogue shows them: next to those of skills, declared in the same terms."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from libs.keys.canonical import canonical
from libs.skills.definitions import Effect, ToolDefinition
from libs.tools import Effect as EffectClass
from libs.tools import Tool


def definition(tool: Tool) -> ToolDefinition:
    """Return the definition of an external tool. Unless it says otherwise, it counts as leaving the machine."""
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
        costs_money=getattr(tool, "costs_money", False),
        digest=hashlib.sha256(canonical([tool.name, tool.description, tool.parameters, effect.value])).hexdigest(),
    )


def as_json(tool: ToolDefinition) -> dict[str, Any]:
    """Return a remote tool's definition as JSON, for other processes."""
    return {
        "name": tool.name,
        "skill": tool.skill,
        "description": tool.description,
        "mutates": tool.mutates,
        "effect": tool.effect.value,
        "params": dict(tool.params),
        "returns": dict(tool.returns),
        "declared": tool.effect_class.value,
        "leaves_machine": tool.leaves_machine,
        "destination": tool.destination,
        "costs_money": tool.costs_money,
        "tenants": list(tool.tenants),
        "remote": tool.remote,
        "digest": tool.digest,
    }


def from_json(told: Mapping[str, Any]) -> ToolDefinition:
    """Return the definition from its JSON, the inverse of `as_json`."""
    values = {
        "effect": Effect(told["effect"]),
        "declared": EffectClass(told["declared"]),
        "tenants": tuple(told["tenants"]),
    }
    return ToolDefinition(**{**told, **values}, primitive=None, method="")
