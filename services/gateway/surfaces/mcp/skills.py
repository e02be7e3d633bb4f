"""Installed skills as prompts, as resources, and by the skills extension (SEP-2640).

A host reads the same bytes that Suma itself plans with; the digests let it notice a new version.
"""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml
from mcp_types import (
    CacheableResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    RequestParams,
    Resource,
    TextContent,
)

from libs.errors import NotFound
from libs.skills import LOADER, SkillDefinition, Skills
from services.gateway.surfaces.mcp import errors
from services.gateway.surfaces.mcp.tool_calls import Call, Context

EXTENSION = "io.modelcontextprotocol/skills"
SCHEME = "skill://"
PAGE = "SKILL.md"
MARKDOWN = "text/markdown"
TTL_MS = 60_000
TASK = "task"


class NoSuchSkill(NotFound):
    """There is no such skill, or no such file of it; list the skills."""


class SkillsListResult(CacheableResult):
    """The answer to `skills/list`. All skills fit on one page."""

    skills: list[dict[str, Any]]
    result_type: str = "complete"


class SkillsGetParams(RequestParams):
    uri: str


class SkillsGetResult(CacheableResult):
    """The answer to `skills/get`."""

    skill: dict[str, Any]
    result_type: str = "complete"


async def list_prompts(context: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
    task = PromptArgument(name=TASK, description="What to do with it", required=False)
    return ListPromptsResult(
        prompts=[Prompt(name=skill.name, description=skill.description, arguments=[task]) for skill in _all(context)]
    )


async def get_prompt(context: Context, params: GetPromptRequestParams) -> GetPromptResult:
    """Return a skill's instructions, with a task."""
    found = _skills(context).skills.get(params.name)
    if found is None:
        errors.raised(NoSuchSkill(f"there is no prompt {params.name}; list the prompts"), errors.MODERN)
    task = (params.arguments or {}).get(TASK)
    text = f"{found.instructions.strip()}\n\n{task}" if task else found.instructions.strip()
    message = PromptMessage(role="user", content=TextContent(text=text))
    return GetPromptResult(description=found.description, messages=[message])


async def list_skills(context: Context, params: PaginatedRequestParams) -> SkillsListResult:
    return SkillsListResult(skills=[_entry(skill) for skill in _all(context)], ttl_ms=TTL_MS, cache_scope="private")


async def get_skill(context: Context, params: SkillsGetParams) -> SkillsGetResult:
    try:
        skill, path = _found(_skills(context), params.uri)
        if path != PAGE:
            raise NoSuchSkill
    except NoSuchSkill as error:
        errors.raised(error, errors.MODERN)
    return SkillsGetResult(skill=_entry(skill), ttl_ms=TTL_MS, cache_scope="private")


def resources(skills: Skills) -> Iterator[Resource]:
    """Yield the main file of each skill; its other files are named by the extension."""
    for skill in skills.skills.values():
        yield Resource(
            name=skill.name,
            uri=_uri(skill, PAGE),
            description=skill.description,
            mime_type=MARKDOWN,
            size=len(skill.files[PAGE]),
        )


def content(skills: Skills, uri: str) -> tuple[str, bytes]:
    """Return a skill's file: its media type and bytes. Raises NoSuchSkill."""
    skill, path = _found(skills, uri)
    kind = MARKDOWN if path.endswith(".md") else mimetypes.guess_type(path)[0] or "text/plain"
    return kind, skill.files[path]


def _entry(skill: SkillDefinition) -> dict[str, Any]:
    return {
        "uri": _uri(skill, PAGE),
        "frontmatter": _frontmatter(skill),
        "resources": [
            {"uri": _uri(skill, path), "digest": f"sha256:{hashlib.sha256(raw).hexdigest()}", "size": len(raw)}
            for path, raw in skill.files.items()
        ],
    }


def _frontmatter(skill: SkillDefinition) -> Mapping[str, Any]:
    _, head, _ = skill.files[PAGE].decode().split("---\n", 2)
    header: Mapping[str, Any] = yaml.load(head, LOADER)  # noqa: S506 - the safe loader
    return header


def _found(skills: Skills, uri: str) -> tuple[SkillDefinition, str]:
    name, _, path = uri.removeprefix(SCHEME).partition("/")
    skill = skills.skills.get(name)
    if not uri.startswith(SCHEME) or skill is None or path not in skill.files:
        raise NoSuchSkill
    return skill, path


def _uri(skill: SkillDefinition, path: str) -> str:
    return f"{SCHEME}{skill.name}/{path}"


def _all(context: Context) -> Sequence[SkillDefinition]:
    return list(_skills(context).skills.values())


def _skills(context: Context) -> Skills:
    return Call.of(context).here.platform.skills
