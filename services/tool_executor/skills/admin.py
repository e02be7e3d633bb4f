"""Views of the skills for people, and their decisions on a folder's own skills: approved by hash, or revoked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import NotFound
from libs.runtime import Platform, permitted
from libs.skills import SkillDefinition, Skills, Source, interpreter
from services.tool_executor.chain import runnable
from services.tool_executor.rows import SkillApproved, SkillRevoked
from services.tool_executor.skills.local import Local, LocalSkills
from services.tool_executor.skills.search import SkillIndex, choices
from services.tool_executor.workspaces import GROUP

ACTION = "admin.skills"
BEATEN = "a nearer skill has this name"
KEPT = "its newest version is broken: the last good one is used"


class Word(BaseModel):
    """A person's request about a folder's skill, and its author."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: str
    name: str
    principal: str
    scopes: tuple[str, ...]


class SkillApproval(Word):
    digest: str
    """The digest of exactly the version that was shown."""


class SkillAdmin:
    def __init__(self, platform: Platform, local: LocalSkills) -> None:
        self._platform, self._local = platform, local
        self._index = SkillIndex(platform.embedder)

    async def listed(self, tenant: str, root: str | None, query: str | None = None) -> dict[str, Any]:
        """Every skill, with whether it is in use and why not; with a folder's own where one is named. With a `query`
        those that come near it, the nearest first, each with a `score`, and the `choices` among those in use.
        """
        view, own = self._platform.skills, await self._own(tenant, root)
        rows = _rows(view, own)
        near = {"skills": rows} if query is None else await self._near(query, rows, _every(view, own))
        return {
            **near,
            "problems": {folder.name: list(problems) for folder, problems in view.problems.items()},
        }

    async def describe(self, tenant: str, name: str, root: str | None) -> dict[str, Any]:
        """Return the nearest skill of a name, with all its details. Raises NotFound.

        The details and the digest are of one reading, so that an approval is of the version that was shown.
        """
        view, own = self._platform.skills, await self._own(tenant, root)
        row = next((row for row in _rows(view, own) if row["name"] == name), None)
        if row is None:
            raise NotFound(f"there is no skill {name}")
        read = next((one for one in _every(view, own) if (one.name, one.digest) == (name, row["digest"])), None)
        return {**row, **(_more(read) if read is not None else {})}

    async def _near(
        self, query: str, rows: Sequence[dict[str, Any]], every: Sequence[SkillDefinition]
    ) -> dict[str, Any]:
        found = await self._index.nearest(query, every)
        places = {(row["folder"], row["digest"]): row for row in rows}
        near = [(skill, score, places[str(skill.folder), skill.digest]) for skill, score in found]
        usable = [(skill, score) for skill, score, row in near if row["state"] == "on"]
        return {
            "skills": [{**row, "score": score} for _, score, row in near],
            "choices": [skill.name for skill in choices(usable)],
        }

    async def approve(self, tenant: str, word: SkillApproval) -> None:
        """Turn exactly this version on. Raises Denied, and what `LocalSkills.to_approve` raises."""
        changes = await self._permitted(tenant, word, "approve")
        folder = await self._local.to_approve(tenant, word.root, name=word.name, digest=word.digest)
        row = SkillApproved(root=str(folder), name=word.name, digest=word.digest, principal=word.principal)
        await self._platform.writer.apply(changes.put(row))

    async def revoke(self, tenant: str, word: Word) -> None:
        """Turn it off, whatever version was approved. Raises Denied."""
        changes = await self._permitted(tenant, word, "revoke")
        root = str(self._local.folder(tenant, word.root))
        await self._platform.writer.apply(changes.put(SkillRevoked(root=root, name=word.name)))

    async def _own(self, tenant: str, root: str | None) -> Sequence[Local]:
        return await self._local.found(tenant, root) if root is not None else ()

    async def _permitted(self, tenant: str, word: Word, verb: str) -> Changeset:
        """Return the record of policy's yes, for the changes that it permits."""
        cause = Cause.request(GROUP, id=ids.new(), tenant=tenant, key=f"{tenant}:{word.principal}")
        about, facts = f"{verb}:{word.name}", {"verb": verb, "skill": word.name}
        return Changeset(cause).emit(
            await permitted(self._platform, cause, ACTION, word.principal, word.scopes, resource=about, **facts)
        )


def _every(view: Skills, own: Sequence[Local]) -> Sequence[SkillDefinition]:
    """Return all skills that could be read."""
    return (*(local.skill for local in own if local.skill is not None), *view.skills.values(), *view.hidden)


def _rows(view: Skills, own: Sequence[Local]) -> Sequence[dict[str, Any]]:
    """List the folder's own skills, then the catalogue's: in use, hidden by a nearer one, or broken."""
    above = {local.name for local in own if not local.off}
    rows = [
        _row(skill, BEATEN if skill.name in above else "", view.problems.get(skill.folder, ()))
        for skill in view.skills.values()
    ]
    hidden = [_row(skill, BEATEN, view.problems.get(skill.folder, ())) for skill in view.hidden]
    known = {skill.folder for skill in (*view.skills.values(), *view.hidden)}
    broken = [
        _broken(folder.name, str(folder), problems) for folder, problems in view.problems.items() if folder not in known
    ]
    return [*map(_local, own), *rows, *hidden, *broken]


def _local(local: Local) -> dict[str, Any]:
    if local.skill is None:
        return _broken(local.name, str(local.folder), local.problems or (local.off,), Source.WORKSPACE)
    return _row(local.skill, local.off, local.problems)


def _row(skill: SkillDefinition, off: str, problems: Sequence[str]) -> dict[str, Any]:
    return {
        "name": skill.name,
        "kind": skill.kind.value,
        "source": skill.source.value,
        "state": "off" if off else "on",
        "reason": off or (KEPT if problems else ""),
        "id": skill.id,
        "version": skill.version,
        "description": skill.description,
        "tags": list(skill.tags),
        "tools": [tool.name for tool in skill.tools],
        "digest": skill.digest,
        "folder": str(skill.folder),
        "problems": [*problems, *_astray(skill)],
    }


def _astray(skill: SkillDefinition) -> list[str]:
    """Return the tools that no executor of this version can run."""
    strange = (tool for tool in skill.tools if not runnable(tool))
    return [f"{tool.name} calls {tool.method}, and there is no such primitive" for tool in strange]


def _broken(name: str, folder: str, problems: Sequence[str], source: Source | None = None) -> dict[str, Any]:
    unknown = dict.fromkeys(("kind", "id", "version", "digest"))
    nothing: dict[str, Any] = {"description": "", "tags": [], "tools": []}
    about = {"name": name, "source": source.value if source else None, "folder": folder, "problems": list(problems)}
    return {**unknown, **nothing, **about, "state": "off", "reason": "broken"}


def _more(skill: SkillDefinition) -> Mapping[str, Any]:
    return {
        "instructions": skill.instructions,
        "files": {path: len(content) for path, content in skill.files.items()},
        "programs": {
            path: content.decode("utf-8", "replace")
            for path, content in skill.files.items()
            if interpreter(path, content) is not None
        },
        "declared": [
            {
                "name": tool.name,
                "description": tool.description,
                "mutates": tool.mutates,
                "effect": tool.effect.value,
                "params": tool.params,
                "examples": list(tool.examples),
            }
            for tool in skill.tools
        ],
    }
