"""Skills of a workspace's own: `.suma/skills` of a session's folder. They are off until a person approves them by hash.

A file of a downloaded archive or a cloned project could otherwise instruct a model. So each version is approved alone,
for one tenant and one folder, and any changed byte makes it off again. An approved skill precedes the user's and the
bundled ones of its name (S2-24). Its instructions and its programs can be approved, which `skills.run` starts in the
sandbox. Its declarations of tools are not read: tools are the same for every folder.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from libs.errors import NotFound, Rejected
from libs.runtime import Platform
from libs.skills import BadSkill, Kind, SkillDefinition, Skills, Source, UnknownSkill, read_skill
from libs.skills.catalogue import folders
from services.tool_executor.workspaces import GROUP, Workspaces, queries

FOLDER = Path(".suma", "skills")
FOUND_MOST = 50
"""Skills of one folder that are looked at."""
TOLD_MOST = 20
"""The number of skills that planners see, and the length of each description."""
TOLD_CHARACTERS = 400

NOT_APPROVED = "not approved: it belongs to this folder alone, and no person has reviewed it"
CHANGED = "changed since it was approved"
WITH_TOOLS = "it declares tools, and a folder's own skills may only be instructions"
TAKEN = "a skill with tools has this name already"


class CannotApprove(Rejected):
    """This skill cannot be used from a folder, even with an approval."""

    code = "SKILL_CANNOT_BE_APPROVED"


class SkillChanged(Rejected):
    """The skill changed since it was reviewed; review it again."""

    code = "SKILL_CHANGED"


@dataclass(frozen=True, slots=True)
class Local:
    """A skill in a folder: on, or off for a reason. `skill` is None if it is broken."""

    folder: Path
    skill: SkillDefinition | None
    off: str = ""
    problems: tuple[str, ...] = ()
    final: bool = False
    """No approval would help."""

    @property
    def name(self) -> str:
        return self.folder.name


class LocalSkills:
    def __init__(self, platform: Platform, workspaces: Workspaces) -> None:
        self._platform, self._workspaces = platform, workspaces

    async def found(self, tenant: str, root: str) -> tuple[Local, ...]:
        """Return every skill of the folder, read anew. Raises `BadRoot` for a folder that may not be worked in."""
        folder = self.folder(tenant, root)
        if not _has_own(folder):
            return ()
        rows = await self._platform.database.rows(GROUP, tenant, queries.skill_approvals, root=str(folder))
        approved = {row["name"]: row["digest"] for row in rows}
        return await asyncio.to_thread(_found, folder, self._platform.skills, approved)

    def folder(self, tenant: str, root: str) -> Path:
        """Return the folder as approvals name it. Raises `BadRoot`."""
        return self._workspaces.allowed(tenant, root)

    async def descriptions(self, tenant: str, root: str) -> list[dict[str, str]]:
        """Return the skills that a planner may use: those that are on."""
        on = [local.skill for local in await self.found(tenant, root) if local.skill is not None and not local.off]
        return [{"name": skill.name, "description": skill.description[:TOLD_CHARACTERS]} for skill in on[:TOLD_MOST]]

    async def to_use(self, tenant: str, root: str | None, name: str) -> SkillDefinition:
        """Return the skill of this name for a session in this folder. Raises `UnknownSkill`, `SkillChanged`."""
        found = await self.found(tenant, root) if root is not None else ()
        local = next((one for one in found if one.name == name), None)
        if local is not None and local.skill is not None and not local.off:
            return local.skill
        known = self._platform.skills.skills.get(name)
        if known is None and local is not None and local.off == CHANGED:
            raise SkillChanged(f"the folder's skill {name} has changed since it was approved; review it again")
        if known is None:
            off = f": the folder's own is {local.off or 'broken'}" if local is not None else ""
            raise UnknownSkill(f"there is no skill {name}{off}")
        return known

    async def to_approve(self, tenant: str, root: str, *, name: str, digest: str) -> Path:
        """Return the folder for which exactly this version of the skill may be approved.

        Raises:
            NotFound: there is no such skill. SkillChanged: it is another version by now.
            CannotApprove: approving it would not make it usable.
        """
        local = next((one for one in await self.found(tenant, root) if one.name == name), None)
        if local is None:
            raise NotFound(f"{root} has no skill {name} in {FOLDER}")
        if local.skill is None or local.final:
            raise CannotApprove("; ".join(local.problems) or local.off)
        if local.skill.digest != digest:
            raise SkillChanged(f"{name} has changed since it was reviewed; review it again")
        return self.folder(tenant, root)


def _has_own(root: Path) -> bool:
    return os.path.lexists(root / FOLDER)


def _found(root: Path, skills: Skills, approved: Mapping[str, str]) -> tuple[Local, ...]:
    top = root / FOLDER
    try:
        # `.suma` may come from an archive or a clone: a link in it could show a model any file of this machine.
        if top.resolve() != root.resolve() / FOLDER:
            return (Local(top, None, "a link leads out of the folder", final=True),)
        return tuple(_judged(folder, skills, approved) for folder in folders(top)[:FOUND_MOST])
    except OSError as error:
        return (Local(top, None, f"it cannot be read: {error.strerror}", final=True),)


def _judged(folder: Path, skills: Skills, approved: Mapping[str, str]) -> Local:
    try:
        skill = read_skill(folder, Source.WORKSPACE)
    except BadSkill as bad:
        return Local(folder, None, "broken", bad.problems, final=True)
    known = skills.skills.get(skill.name)
    if skill.kind is Kind.PRIMITIVE:
        return Local(folder, skill, WITH_TOOLS, final=True)
    if known is not None and known.tools:
        return Local(folder, skill, TAKEN, final=True)
    if skill.name not in approved:
        return Local(folder, skill, NOT_APPROVED)
    return Local(folder, skill, "" if approved[skill.name] == skill.digest else CHANGED)
