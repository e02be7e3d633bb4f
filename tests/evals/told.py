"""`python -m tests.evals.told [--file told|told-held-out] [--only TEXT] [-v]`: wishes as people tell them.

Each is played as a patient person would: the request is said; an offer that leads to the wish is taken, by a yes or by
its number; a plan that comes to anything else is refused at its preview, and it is said anew; what was not
understood is said again in other words. What counts is how many messages it took until the folder was as wished.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree

from rich.console import Console
from rich.table import Table

from services.cli.evaluating import cases, checking, folders, scoring, trees
from services.cli.evaluating.cases import BUNDLED, BadCases, Case, Cases, Outcome
from services.cli.evaluating.scoring import Did
from services.cli.evaluating.trees import Tree
from tests.evals.in_process import House, Session, now

FILES = ("told", "told-held-out")
YES = {"en": "yes", "de": "ja", "es": "sí"}
NUMBERS = ("1", "2", "3")
OFFERS_MOST = 2
"""Questions in a row that somebody answers without saying it anew."""
LEAST = 0.75
"""Of the wishes, so many must be had with one more message at most."""


@dataclass
class Story:
    """How a wish came out: in the how-manieth message (0 is the first), by how many offers, and what was said."""

    case: Case
    message: int | None = None
    offers: int = 0
    wrong_plans: int = 0
    log: list[str] = field(default_factory=list)


async def play(house: House, among: Cases, case: Case) -> Story:
    """Play one wish in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="suma-told-") as place:
        return await _Person(house, among, case, Path(place).resolve() / case.folder).tries()


class _Person:
    def __init__(self, house: House, among: Cases, case: Case, root: Path) -> None:
        self._house, self._among, self._case, self._root = house, among, case, root
        self._story = Story(case)
        self._pristine = self._anew()

    async def tries(self) -> Story:
        session = Session(self._house, self._root)
        for number, text in enumerate((self._case.request, *self._case.again)):
            right, session = await self._says(session, text, OFFERS_MOST)
            if right:
                self._story.message = number
                break
        return self._story

    async def _says(self, session: Session, text: str, patience: int) -> tuple[bool, Session]:
        """Is it done, be it by an offer? And the session in which it goes on."""
        did = await session.ask(text)
        right = scoring.judge(self._case, replace(did, before=self._pristine)).right
        self._note(text, did, right)
        if right:
            return True, session
        if not trees.equal(self._pristine, self._root, did.after):
            self._story.wrong_plans += 1
            self._anew()
            return False, Session(self._house, self._root)
        if patience and _asks(did) and await self._takes(session, did, patience):
            return True, session
        return False, session

    async def _takes(self, session: Session, did: Did, patience: int) -> bool:
        """Does one of what was offered lead there? Each is tried in a session like this one."""
        numbers = [number for number in NUMBERS if f"{number})" in did.said or f"{number}." in did.said]
        for reply in (YES[self._case.language], *numbers):
            kept = replace(self._story, log=[*self._story.log])
            right, _ = await self._says(replace(session, history=[*session.history]), reply, patience - 1)
            self._anew()
            if right:
                self._story.offers += 1
                return True
            self._story = kept
        return False

    def _anew(self) -> Tree:
        """The folder as it was."""
        rmtree(self._root, ignore_errors=True)
        self._root.mkdir()
        folders.make(self._among.folders[self._case.folder], self._root, now())
        return trees.seen(self._root)

    def _note(self, text: str, did: Did, right: bool) -> None:
        done = " → ".join(f"{step.tool} {dict(step.args)}" for step in did.steps if step.mutates or not step.feeds)
        told = f"[{did.outcome}{', right' if right else ''}] {done[:400]}"
        self._story.log += [f"  » {text}", f"    {told}", f"    « {' '.join(did.said.split())[:400]}"]


def _asks(did: Did) -> bool:
    """A question, or an answer that ends in one: "but 3 in subfolders: all of these?"."""
    return did.outcome is Outcome.ASKS or did.said.rstrip().endswith(("?", "?)"))


async def stories(wanted: Cases) -> list[Story]:
    house = House.offline()
    return [await play(house, wanted, case) for case in wanted.cases]


def main() -> int:
    chosen = _parser().parse_args()
    console = Console(highlight=False, soft_wrap=True)
    try:
        wanted = cases.read(BUNDLED / f"{chosen.file}.yaml")
        checking.check(wanted)
    except BadCases as error:
        console.print(f"tests.evals.told: {error}", style="red", markup=False)
        return 2
    some = tuple(case for case in wanted.cases if chosen.only in case.id)
    told = asyncio.run(stories(Cases(cases=some, folders=wanted.folders)))
    for story in told if chosen.verbose else ():
        if story.message != 0:
            console.print(f"✘ {story.case.id} in {story.case.folder}", *story.log, sep="\n", markup=False)
    console.print(_table(told))
    return 0 if told and _share(told, 1) >= LEAST else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.evals.told", description="Wishes as people tell them.")
    parser.add_argument("--file", choices=FILES, default=FILES[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="wishes with this in their ids")
    parser.add_argument("-v", "--verbose", action="store_true", help="what was said, of each that took more messages")
    return parser


def _share(told: Sequence[Story], most: int) -> float:
    return sum(story.message is not None and story.message <= most for story in told) / len(told)


def _table(told: Sequence[Story]) -> Table:
    table = Table("", "wishes", "at once", "one more", "two or three more", "never", "wrong plans", box=None)
    kinds = sorted({story.case.id.partition("-")[0] for story in told})
    table.add_row(*_row("all", told))
    for kind in kinds:
        table.add_row(*_row(kind, [story for story in told if story.case.id.startswith(f"{kind}-")]))
    for language in sorted({story.case.language for story in told}):
        table.add_row(*_row(language, [story for story in told if story.case.language == language]))
    return table


def _row(name: str, told: Sequence[Story]) -> list[str]:
    """Shares are of all that were had up to there."""
    taken = Counter(story.message for story in told)
    later = sum(count for message, count in taken.items() if message is not None and message > 1)
    wrong = sum(story.wrong_plans > 0 for story in told)
    shares = [
        f"{taken[0]} ({_share(told, 0):.0%})",
        f"{taken[1]} ({_share(told, 1):.0%})",
        f"{later} ({_share(told, 9):.0%})",
    ]
    return [name, str(len(told)), *shares, str(taken[None]), str(wrong)]


if __name__ == "__main__":
    sys.exit(main())
