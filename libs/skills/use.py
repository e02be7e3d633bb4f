"""`skills.use`: reads a skill. Its instructions and the files that it refers to are returned as data with their
provenance (S2-23). A model reads them, and policy checks the resulting plan like any other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from libs.errors import NotFound
from libs.keys.canonical import canonical
from libs.skills.definitions import Effect, Kind, Primitive, Schema, SkillDefinition, ToolDefinition

USE = "skills.use"
NAMED_MOST = 20
"""Maximum number of skills that the tool's description names (S2, `max_in_prompt`)."""
DESCRIPTION_MOST = 200
PIECE = 40_000
"""Maximum characters of one result; `offset` continues."""

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
"""Digest of the tool alone, independent of the installed skills: each result names the digest of its skill."""


class UnknownSkill(NotFound):
    """No such skill exists."""

    code = "UNKNOWN_SKILL"


class NoSuchReference(NotFound):
    """The skill has no such file."""

    code = "NO_SUCH_REFERENCE"


def tool_definition(skills: Iterable[SkillDefinition]) -> ToolDefinition:
    """Return the tool, with the names of the skills that a model reads: they have instructions, and no tools."""
    read = (one for one in skills if one.kind is not Kind.PRIMITIVE and not one.tools)
    named = [f"{one.name}: {one.description[:DESCRIPTION_MOST]}" for one in read]
    there = f" There are: {'; '.join(named[:NAMED_MOST])}." if named else ""
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
    """Return a part of the instructions, or of a file in the skill's folder, as of when the skill was read.

    Raises:
        NoSuchReference: it has no such file, or the file is not text.
    """
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
        raise NoSuchReference(f"{reference} of {skill.name} is not text") from None
