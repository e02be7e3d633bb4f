"""`skills.use`: a look into a skill. Its instructions, and what it refers to, come back as data with their provenance
(S2-23): a model reads them, and whatever it then plans is policed like any other plan.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from libs.errors import NotFound, Rejected
from libs.keys.canonical import canonical
from libs.skills.definitions import Effect, Kind, Primitive, Schema, SkillDefinition, ToolDefinition

USE = "skills.use"
TOLD_MOST = 20
"""Skills that the tool's description names (S2, `max_in_prompt`)."""
TOLD_CHARACTERS = 200
PIECE = 40_000
"""Characters of one look; `offset` goes on."""

PARAMS: Schema = MappingProxyType(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["skill"],
        "properties": {
            "skill": {"type": "string", "minLength": 1, "maxLength": 64},
            "reference": {"type": "string", "minLength": 1, "maxLength": 400, "description": "a file that it lists"},
            "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "go on behind this character"},
        },
    }
)
RETURNS: Schema = MappingProxyType(
    {
        "skill": {"type": "string"},
        "source": {"type": "string"},
        "version": {"type": "string"},
        "digest": {"type": "string"},
        "reference": {"type": ["string", "null"]},
        "text": {"type": "string"},
        "more": {"type": "boolean"},
        "references": {"type": "array", "items": {"type": "string"}},
    }
)
DIGEST = hashlib.sha256(canonical([USE, dict(PARAMS), dict(RETURNS)])).hexdigest()
"""Of what the tool does, not of which skills there are: each answer names the digest of the one that it is from."""


class UnknownSkill(NotFound):
    """There is no such skill."""

    code = "UNKNOWN_SKILL"


class NoSuchReference(NotFound):
    """The skill has no such file."""

    code = "NO_SUCH_REFERENCE"


class NoSandbox(Rejected):
    """This skill is code: it is used only where there is a sandbox."""

    code = "NO_SANDBOX"


def definition(skills: Iterable[SkillDefinition]) -> ToolDefinition:
    """The tool, which names the skills that are worth a look: those that are instructions."""
    told = [f"{one.name}: {one.description[:TOLD_CHARACTERS]}" for one in skills if one.kind is Kind.PROMPT]
    there = f" There are: {'; '.join(told[:TOLD_MOST])}." if told else ""
    return ToolDefinition(
        name=USE,
        skill=USE.partition(".")[0],
        description=f"Read a skill's instructions, or a file that it refers to, before working by them. "
        f"A workspace's facts may list its own under `skills`.{there}",
        primitive=Primitive.SKILL,
        method="use",
        mutates=False,
        effect=Effect.READ,
        params=PARAMS,
        returns=RETURNS,
        digest=DIGEST,
    )


def use(skill: SkillDefinition, reference: str | None = None, offset: int = 0) -> Mapping[str, Any]:
    """A piece of the instructions, or of a file in the skill's folder, as it was when the skill was read.

    Raises:
        NoSandbox: the skill is code.
        NoSuchReference: it has no such file, or the file is no text.
    """
    if skill.kind is Kind.CODE:
        raise NoSandbox(f"{skill.name} is code, which runs only in a sandbox, and there is none here")
    text = skill.instructions if reference is None else _text(skill, reference)
    return {
        "skill": skill.name,
        "source": skill.source.value,
        "version": skill.version,
        "digest": skill.digest,
        "reference": reference,
        "text": text[offset : offset + PIECE],
        "more": len(text) > offset + PIECE,
        "references": list(skill.references),
    }


def _text(skill: SkillDefinition, reference: str) -> str:
    if reference not in skill.references:
        raise NoSuchReference(f"{skill.name} has no file {reference}")
    try:
        return skill.files[reference].decode()
    except UnicodeDecodeError:
        raise NoSuchReference(f"{reference} of {skill.name} is no text") from None
