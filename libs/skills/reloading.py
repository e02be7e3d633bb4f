"""The catalogue: the current view of the skills, which follows what people change on disk within a second (S4-17).

Folders are looked at, not listened to: a look costs one `stat` for each file, needs no limit of the system raised, and
is right on every file system. A changed folder counts when two looks in a row find it the same: an editor that is
still writing is waited for. What then proves broken does not take a skill away: the last good version stays, and the
problem is told. The view is swapped whole, so that whoever holds one sees all of a change or nothing of it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from libs.skills.catalogue import Skills, folders
from libs.skills.definitions import SkillDefinition, Source
from libs.skills.files import BadSkill, Print, fingerprint
from libs.skills.folder import read_skill
from libs.telemetry.logs import logger
from libs.tools import Tool

LOOK_SECONDS, SETTLE_SECONDS = 0.25, 0.1
"""Between two looks, and between the look that sees a change and the one that finds it at rest."""
SHARE = 20
"""A look may take a twentieth of the time: where it takes long, the next one comes later."""

log = logger("skills")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of skills."""

    folder: Path
    source: Source


@dataclass(frozen=True, slots=True)
class Known:
    """What was last made of a folder: its newest good version, if there was one, and what is wrong with it now."""

    print: Print
    skill: SkillDefinition | None
    problems: tuple[str, ...] = ()


class Catalogue:
    """`skills` is the view as of now; whoever decides by it twice takes it once. `number` counts the views."""

    def __init__(
        self, places: Sequence[Place] = (), tools: Iterable[Tool] = (), *, every: float = LOOK_SECONDS
    ) -> None:
        """Read the places, highest precedence first. Raises `BadTool` for a tool whose name a skill's tool has."""
        self._places, self._every = places, every
        self._known: dict[Path, Known] = {}
        self._seen, self._blind = self._prints()
        self._restless = False
        self._read_changed(self._seen)
        view = Skills.of(self._good(), {}).plus(tools)
        self._plugged = view.plugged
        self.skills, self.number = self._view(), 1
        self._moved = asyncio.Condition()

    @classmethod
    def fixed(cls, skills: Skills) -> Catalogue:
        """One that shows this view for ever."""
        catalogue = cls()
        catalogue.skills = skills
        return catalogue

    async def watch(self) -> None:
        """Follow the places until cancelled."""
        while self._places:
            began = time.monotonic()
            if await asyncio.to_thread(self.look):
                async with self._moved:
                    self._moved.notify_all()
            took = time.monotonic() - began
            if self._restless:
                await asyncio.sleep(max(min(SETTLE_SECONDS, self._every), took))
            else:
                await asyncio.sleep(max(self._every, SHARE * took))

    async def changed(self, since: int) -> Skills:
        """The view, once there is one later than the one of this number."""
        async with self._moved:
            await self._moved.wait_for(lambda: self.number > since)
        return self.skills

    def look(self) -> bool:
        """Look once; for a thread. True when there is a new view."""
        prints, blind = self._prints()
        settled = {folder: seen for folder, seen in prints.items() if self._seen.get(folder) == seen}
        gone = [folder for folder in self._known if folder not in prints and folder not in self._seen]
        for folder in gone:
            del self._known[folder]
        new = self._read_changed(settled)
        moved = new or bool(gone) or blind != self._blind
        self._restless = prints.keys() != self._seen.keys() or len(settled) < len(prints)
        self._seen, self._blind = prints, blind
        if moved:
            # Both are single assignments, the view first: a number is never ahead of what it counts.
            self.skills = self._view()
            self.number += 1
            log.info("skills have changed", number=self.number, skills=len(self.skills.skills))
        return moved

    def _prints(self) -> tuple[Mapping[Path, Print], Mapping[Path, tuple[str, ...]]]:
        """What every skill's folder looks like, and which places cannot be looked at: there, all is taken to be as it
        was."""
        prints: dict[Path, Print] = {}
        blind: dict[Path, tuple[str, ...]] = {}
        for place in self._places:
            try:
                prints |= {folder: _print(folder) for folder in folders(place.folder)}
            except OSError as error:
                blind[place.folder] = (f"the folder cannot be read: {error.strerror}",)
                prints |= {
                    folder: known.print for folder, known in self._known.items() if folder.parent == place.folder
                }
        return prints, blind

    def _read_changed(self, prints: Mapping[Path, Print]) -> bool:
        """Read each folder that is not as it was when it was read."""
        stale = [folder for folder, seen in prints.items() if (k := self._known.get(folder)) is None or k.print != seen]
        return sum(self._read(folder, prints[folder]) for folder in stale) > 0

    def _read(self, folder: Path, seen: Print) -> bool:
        before = self._known.get(folder)
        try:
            known = Known(seen, read_skill(folder, self._source(folder)))
        except BadSkill as bad:
            known = Known(seen, before.skill if before else None, bad.problems)
            log.warning("a skill is broken", skill=folder.name, problems=bad.problems[:5], kept=known.skill is not None)
        if _print(folder) != seen:
            return False  # it changed while it was read, and is read again once it rests
        self._known[folder] = known
        return True

    def _source(self, folder: Path) -> Source:
        return next(place.source for place in self._places if place.folder == folder.parent)

    def _good(self) -> list[SkillDefinition]:
        """Every skill that there is a good version of, the nearest places first."""
        order = [place.folder for place in self._places]
        found = sorted(self._known, key=lambda folder: (order.index(folder.parent), folder.name))
        return [skill for folder in found if (skill := self._known[folder].skill) is not None]

    def _view(self) -> Skills:
        problems = {folder: known.problems for folder, known in self._known.items() if known.problems}
        problems.update(self._blind)
        taken, found = {tool.name for tool in self._plugged}, []
        for skill in self._good():
            if clash := [tool.name for tool in skill.tools if tool.name in taken]:
                problems[skill.folder] = (f"{', '.join(clash)}: a tool from outside has this name",)
            else:
                found.append(skill)
        return replace(Skills.of(found, problems), plugged=self._plugged)


def _print(folder: Path) -> Print:
    """Empty for what cannot be looked at; reading it says why."""
    try:
        return fingerprint(folder)
    except (OSError, BadSkill):
        return ()
