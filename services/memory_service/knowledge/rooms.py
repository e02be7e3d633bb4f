"""The commands and queries of knowledge bases: add, read again, list, search, remove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import NotFound, Rejected
from libs.runtime import Kind, Platform, PolicyDenied, permitted
from libs.skills import SkillDefinition
from libs.telemetry.logs import logger
from services.memory_service.knowledge.reading import KIND, Readings
from services.memory_service.knowledge.rows import BaseRemoved, ReadingBegun
from services.memory_service.knowledge.searching import Passage, Searching
from services.memory_service.knowledge.store import EVERYONE, Base, Store, base_id
from services.memory_service.recent import Recent
from services.memory_service.store import GROUP
from services.memory_service.writing import Person

KNOWLEDGE = "knowledge"
"""The kind of memory that policy is asked about."""
BASES_MOST = 50
READINGS_AT_ONCE, READINGS_EACH, ATTEMPTS = 4, 2, 8
RECENT_SECONDS = 30.0
"""How long plans use a person's list of bases, where another process changed it."""
SKILL, KB = "skill:", "kb/"

log = logger("memory")


class NoSuchBase(NotFound):
    """There is no such knowledge base; list your bases."""


class TooManyBases(Rejected):
    """There are 50 knowledge bases; remove one first."""

    code = "TOO_MANY_BASES"


@dataclass(frozen=True, slots=True)
class Settings:
    """Where a base comes from, and how its texts are cut; `chunk_size` is in letters."""

    source: str
    strategy: str
    chunk_size: int


class Knowledge:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.store = Store(platform.database)
        self._readings = Readings(platform, self.store, platform.embedder)
        self._searching = Searching(self.store, platform.embedder)
        self._of_skills: set[tuple[str, str, str]] = set()
        """By tenant, skill and digest: skills whose `kb/` this process has begun to read."""
        self._recent = Recent(self._known, RECENT_SECONDS)

    @property
    def kind(self) -> Kind[Any]:
        on = self._readings
        return Kind(KIND, on.run, on.ended, on.failed, READINGS_AT_ONCE, READINGS_EACH, ATTEMPTS)

    async def add(self, cause: Cause, person: Person, name: str, settings: Settings, *, shared: bool) -> Changeset:
        """Begin to read a base; one that exists is read again, also from another source.

        Raises:
            TooManyBases, PolicyDenied, Unavailable: nothing is read.
        """
        owner = EVERYONE if shared else person.id
        known = await self.store.bases(cause.tenant, person.id)
        if len(known) >= BASES_MOST and (name, shared) not in {(base.name, base.shared) for base in known}:
            raise TooManyBases
        base, job = base_id(cause.tenant, owner, name), ids.new()
        row = ReadingBegun(base, owner, name, settings.source, settings.strategy, settings.chunk_size, job)
        changes = (await self._permitted(cause, person, owner, base)).put(row)
        return changes.start(self._readings.start(base, job)).on_commit(self._recent.clear)

    async def remove(self, cause: Cause, person: Person, name: str, *, shared: bool) -> Changeset:
        """Remove a base with all that was read. Raises NoSuchBase, PolicyDenied."""
        base = await self.find(cause.tenant, person.id, name, shared=shared)
        owner = EVERYONE if shared else person.id
        return (await self._permitted(cause, person, owner, base.base_id)).put(BaseRemoved(base.base_id))

    async def apply(self, changes: Changeset) -> None:
        await self._platform.writer.apply(changes)

    async def find(self, tenant: str, person: str, name: str, *, shared: bool = False) -> Base:
        """Return a base by its name. Raises NoSuchBase."""
        found = [base for base in await self.bases(tenant, person) if (base.name, base.shared) == (name, shared)]
        if not found:
            raise NoSuchBase
        return found[0]

    async def bases(self, tenant: str, person: str) -> Sequence[Base]:
        """Return the bases that a person can search. Those of skills are there while their skill is."""
        skills = {f"{SKILL}{skill.name}" for skill in self._with_knowledge()}
        found = await self.store.bases(tenant, person)
        return [base for base in found if not base.name.startswith(SKILL) or base.name in skills]

    async def search(
        self, tenant: str, person: str, query: str, most: int, *, base: str | None = None
    ) -> Sequence[Passage]:
        """Return the best passages of a person's bases, or of those of one name. Raises NoSuchBase, Unavailable."""
        bases = [one for one in await self._known(tenant, person) if base in (None, one.name)]
        if base is not None and not bases:
            raise NoSuchBase
        return await self._searching.passages(tenant, bases, query, most)

    async def fitting(self, tenant: str, *, user: str, query: str, most: int) -> list[Mapping[str, Any]]:
        """Return the passages that fit a request, for callers in this process. Raises Unavailable."""
        found = await self._searching.passages(tenant, await self._recent.of(tenant, user), query, most)
        return [asdict(passage) for passage in found if passage.fits]

    async def _known(self, tenant: str, person: str) -> Sequence[Base]:
        await self._read_skills(tenant)
        return await self.bases(tenant, person)

    async def _permitted(self, cause: Cause, person: Person, owner: str, base: str) -> Changeset:
        """Return a changeset with the record of permission. Raises PolicyDenied, Unavailable."""
        facts = {"kind": KNOWLEDGE, "user": owner}
        asked = permitted(
            self._platform, cause, "memory.write", person.id, person.scopes, resource=f"knowledge:{base}", **facts
        )
        return Changeset(cause).emit(await asked)

    def _with_knowledge(self) -> list[SkillDefinition]:
        skills = self._platform.skills.skills.values()
        return [skill for skill in skills if skill.uses_retrieval and any(path.startswith(KB) for path in skill.files)]

    async def _read_skills(self, tenant: str) -> None:
        """Begin to read the `kb/` of skills that this process has not seen in this version (S4-42)."""
        for skill in self._with_knowledge():
            seen = (tenant, skill.name, skill.digest)
            if seen in self._of_skills:
                continue
            self._of_skills.add(seen)
            name = f"{SKILL}{skill.name}"
            cause = Cause.request(GROUP, id=ids.new(), tenant=tenant, key=f"{tenant}:{name}")
            # The principal is the tenant: installing the skill is the wish, and policy may still forbid it.
            everyone = Person(EVERYONE, ("memory",))
            settings = Settings(name, skill.kb_chunk_strategy, skill.kb_chunk_size)
            try:
                await self.apply(await self.add(cause, everyone, name, settings, shared=True))
            except PolicyDenied:
                log.warning("did not read the knowledge of a skill", skill=skill.name)
