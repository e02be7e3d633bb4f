"""The catalogue: the present view of the skills, which follows changes on the disk within a second (S4-17).

Folders are polled: a poll costs one `stat` for each file, needs no raised limit of the system, and works on every file
system. A changed folder is read once two polls in a row find it unchanged, so that an editor can finish writing. A
broken change does not remove a skill: the last good version stays, and the problem is reported. The view is replaced as
a whole, so that every reader sees all of a change or none of it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from libs.errors import Unavailable
from libs.polling import Pause
from libs.skills.catalogue import Skills, folders
from libs.skills.definitions import SkillDefinition, Source, ToolDefinition
from libs.skills.files import BadSkill, Fingerprint, fingerprint
from libs.skills.folder import read_skill
from libs.telemetry.logs import logger
from libs.tools import Tool

Remote = Callable[[], Awaitable[Sequence[ToolDefinition]]]
"""Return the approved tools of other servers. Raises Unavailable."""

REMOTE_SECONDS = 1.0
"""Seconds between two reads of the remote tools."""
POLL_SECONDS, SETTLE_SECONDS = 0.2, 0.1
"""Seconds between two polls, and between a poll that sees a change and the one that checks that it is complete."""
SHARE = 20
"""A poll may take one twentieth of the time; a slow one delays the next."""

log = logger("skills")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of skills."""

    folder: Path
    source: Source


@dataclass(frozen=True, slots=True)
class Known:
    """The last read of a folder: its newest good version, if any, and its present problems."""

    fingerprint: Fingerprint
    skill: SkillDefinition | None
    problems: tuple[str, ...] = ()


class Catalogue:
    """The present view of the skills. Callers that use `skills` twice for one decision must keep a copy. `number`
    counts the views.
    """

    def __init__(
        self,
        places: Sequence[Place] = (),
        tools: Iterable[Tool] = (),
        *,
        multimodal: bool = False,
        every: float = POLL_SECONDS,
    ) -> None:
        """Read the places, highest precedence first. Raises `BadTool` for a tool whose name a skill's tool has."""
        self._places, self._every, self._multimodal = places, every, multimodal
        self._following: Remote | None = None
        self._remote: tuple[ToolDefinition, ...] = ()
        self._viewing = threading.Lock()
        self._known: dict[Path, Known] = {}
        self._seen, self._unreadable = self._fingerprints()
        self._unsettled = False
        self._read_changed(self._seen)
        view = Skills.of(self._good(), {}).plus(tools)
        self._plugged = view.plugged
        self.skills, self.number = self._view(), 1
        self._moved = asyncio.Condition()

    @classmethod
    def fixed(cls, skills: Skills) -> Catalogue:
        """Return a catalogue that always shows this view."""
        catalogue = cls()
        catalogue.skills = skills
        return catalogue

    def follow(self, source: Remote) -> None:
        """Show the tools of this source, too. Without a call no server is configured."""
        self._following = source

    @property
    def has_remote(self) -> bool:
        """Whether a source of remote tools is followed."""
        return self._following is not None

    async def watch(self) -> None:
        """Follow the places and the remote tools until cancelled."""
        await asyncio.gather(self._watch_places(), self._watch_remote())

    async def refresh(self) -> None:
        """Read the remote tools now, if there are any. If their source does not answer, the known ones stay."""
        if self._following is None:
            return
        try:
            tools = tuple(await self._following())
        except Unavailable as error:
            log.warning("could not read remote tools", error=str(error))
            return
        if tools != self._remote:
            with self._viewing:
                self._remote = tools
                self.skills = self.skills.with_remote(tools)
                self.number += 1
            async with self._moved:
                self._moved.notify_all()

    async def _watch_remote(self) -> None:
        while self.has_remote:
            await asyncio.sleep(REMOTE_SECONDS)
            await self.refresh()

    async def _watch_places(self) -> None:
        pause = Pause(self._every)
        while self._places:
            began = time.monotonic()
            if await asyncio.to_thread(self.look):
                pause.found()
                async with self._moved:
                    self._moved.notify_all()
            took = time.monotonic() - began
            if self._unsettled:
                await asyncio.sleep(max(min(SETTLE_SECONDS, self._every), took))
            else:
                await asyncio.sleep(max(pause.next(), SHARE * took))

    async def changed(self, since: int) -> Skills:
        """Wait for a view later than this number, and return it."""
        async with self._moved:
            await self._moved.wait_for(lambda: self.number > since)
        return self.skills

    def look(self) -> bool:
        """Poll once, in a thread; return whether there is a new view."""
        fingerprints, unreadable = self._fingerprints()
        settled = {folder: seen for folder, seen in fingerprints.items() if self._seen.get(folder) == seen}
        gone = [folder for folder in self._known if folder not in fingerprints and folder not in self._seen]
        for folder in gone:
            del self._known[folder]
        new = self._read_changed(settled)
        moved = new or bool(gone) or unreadable != self._unreadable
        self._unsettled = fingerprints.keys() != self._seen.keys() or len(settled) < len(fingerprints)
        self._seen, self._unreadable = fingerprints, unreadable
        if moved:
            # Both are single assignments, the view first, so that a number is never ahead of its view.
            with self._viewing:
                self.skills = self._view().with_remote(self._remote)
                self.number += 1
            log.info("reloaded skills", number=self.number, skills=len(self.skills.skills))
        return moved

    def _fingerprints(self) -> tuple[Mapping[Path, Fingerprint], Mapping[Path, tuple[str, ...]]]:
        """Return the metadata of every skill's folder, and the places that cannot be read: their skills count as
        unchanged.
        """
        fingerprints: dict[Path, Fingerprint] = {}
        unreadable: dict[Path, tuple[str, ...]] = {}
        for place in self._places:
            try:
                fingerprints |= {folder: _fingerprint(folder) for folder in folders(place.folder)}
            except OSError as error:
                unreadable[place.folder] = (f"the folder cannot be read: {error.strerror}",)
                fingerprints |= {
                    folder: known.fingerprint for folder, known in self._known.items() if folder.parent == place.folder
                }
        return fingerprints, unreadable

    def _read_changed(self, fingerprints: Mapping[Path, Fingerprint]) -> bool:
        """Read each folder that has changed since it was last read."""
        stale = [
            folder
            for folder, seen in fingerprints.items()
            if (k := self._known.get(folder)) is None or k.fingerprint != seen
        ]
        return sum(self._read(folder, fingerprints[folder]) for folder in stale) > 0

    def _read(self, folder: Path, seen: Fingerprint) -> bool:
        before = self._known.get(folder)
        try:
            known = Known(seen, read_skill(folder, self._source(folder)))
        except BadSkill as bad:
            known = Known(seen, before.skill if before else None, bad.problems)
            log.warning(
                "rejected broken skill", skill=folder.name, problems=bad.problems[:5], kept=known.skill is not None
            )
        if _fingerprint(folder) != seen:
            return False  # it changed while it was read; read it again once it is settled
        self._known[folder] = known
        return True

    def _source(self, folder: Path) -> Source:
        return next(place.source for place in self._places if place.folder == folder.parent)

    def _good(self) -> list[SkillDefinition]:
        """Return every skill with a good version, highest precedence first."""
        order = [place.folder for place in self._places]
        found = sorted(self._known, key=lambda folder: (order.index(folder.parent), folder.name))
        return [skill for folder in found if (skill := self._known[folder].skill) is not None]

    def _view(self) -> Skills:
        problems = {folder: known.problems for folder, known in self._known.items() if known.problems}
        problems.update(self._unreadable)
        taken, found = {tool.name for tool in self._plugged}, []
        for skill in self._good():
            if clash := [tool.name for tool in skill.tools if tool.name in taken]:
                problems[skill.folder] = (f"{', '.join(clash)}: an external tool has this name",)
            else:
                found.append(skill)
        return replace(Skills.of(found, problems), plugged=self._plugged, multimodal=self._multimodal)


def _fingerprint(folder: Path) -> Fingerprint:
    """Return a folder's metadata; empty if it is unreadable, as reading it then reports why."""
    try:
        return fingerprint(folder)
    except (OSError, BadSkill):
        return ()
