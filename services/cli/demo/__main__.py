"""Run the demo by `python -m services.cli.demo [--random [--seed N]]`; exit 0 if cleanup and rollback worked."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from typing import Any

from rich.console import Console
from rich.text import Text

from libs.errors import SumaError
from libs.workspace import examples
from libs.workspace.examples import Mess
from services.cli import words
from services.cli.client import Client
from services.cli.demo import live_platform
from services.cli.prompts import Reply
from services.cli.show import Screen
from services.cli.turns import TurnResult, follow

GOAL = "clean up this folder: remove duplicates, sort by type, and tell me what is there"
NOTE = "they may be two versions"

console = Console(highlight=False, soft_wrap=True)


def main() -> int:
    chosen = _parser().parse_args()
    return play(random=chosen.random, seed=chosen.seed)


def play(*, random: bool, seed: int | None) -> int:
    """Run the demo on the worked example, or on a random folder. Return the exit code."""
    try:
        with tempfile.TemporaryDirectory(prefix="suma-downloads-") as place:
            folder = Path(place).resolve() / "Downloads"
            folder.mkdir()
            return _play(folder, _random(folder, seed) if random else examples.worked_example(folder))
    except SumaError as error:
        _say(f"suma: {words.plain(error)}", "red")
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m services.cli.demo", description=__doc__)
    parser.add_argument("--random", action="store_true", help="a random folder instead of the worked example")
    parser.add_argument("--seed", type=int, help="of the random folder, to have the same one again")
    return parser


def _random(folder: Path, seed: int | None) -> Mess:
    seed = seed if seed is not None else SystemRandom().randint(1, 10**9)
    _say(f"A random folder from seed {seed} (again: suma demo --seed {seed})", "bold")
    return examples.random(folder, seed)


@dataclass(frozen=True)
class Checked:
    """A claim of the demo, and whether it holds."""

    sentence: str
    holds: bool


def _play(folder: Path, made: Mess) -> int:
    before = _manifest(folder)
    _say(f"{_inventory(before)} in {folder}, {words.count(len(made.groups), 'group')} of duplicates among them", "bold")
    began = time.monotonic()
    with live_platform.platform(folder) as address, Client(address) as suma:
        _say(f"The platform is up at {address.url} after {time.monotonic() - began:.1f} s\n", "dim")
        _say(f"› {GOAL}", "bold cyan")
        screen, person = Screen(console, verbose=True), Demo(console, made)
        session = suma.open_session(root=folder, hitl="key", title="demo")
        said = suma.say(session, GOAL)
        done = follow(suma, session, said["turn_id"], after=said["after"], watcher=screen, person=person)
        between = _manifest(folder)
        _say("\n› suma rollback", "bold cyan")
        asked = suma.rollback(session, target={})
        undone = follow(suma, session, asked["turn_id"], after=asked["after"], watcher=screen, person=person)
    after = _manifest(folder)
    return _judge([*_cleaned(made, before, between, done, person), *_restored(before, after, undone)], before, after)


class Demo:
    """Automatic answers of the demo, printed as they are given."""

    def __init__(self, console: Console, made: Mess) -> None:
        self._console = console
        self._left_out = set(made.left_out)
        self.excluded: list[str] = []

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        apart = [item["id"] for item in question["items"] if self._left_out & set(item.get("paths", ()))]
        if not apart:
            self._answer("approve")
            return {"verdict": "approve"}
        self.excluded += apart
        self._answer(f"approve, but leave {' and '.join(sorted(self._left_out))} alone: {NOTE}")
        return {"verdict": "override", "exclude": apart, "reason": NOTE}

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return None: the demo works only on its folder, so it has no unknown effects."""
        return None

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply:
        skill = str(candidates[0]["skill"]) if candidates else None
        self._answer(skill or "yes")
        return Reply(skill or "yes", skill)

    def _answer(self, text: str) -> None:
        self._console.print(Text(f"  → the demo answers: {words.plain(text)}", style="bold magenta"))


def _cleaned(
    made: Mess, before: Sequence[str], between: Sequence[str], done: TurnResult, person: Demo
) -> Sequence[Checked]:
    names = {_name(line) for line in between}
    gone = len(_files(before)) - len(_files(between))
    apart = [name for name in made.left_out if not any(Path(found).name == Path(name).name for found in names)]
    return (
        Checked("the turn was completed and committed", done.done and len(done.commits) == 1),
        Checked(f"{words.count(made.surplus, 'duplicate')} removed, and nothing else", gone == made.surplus),
        Checked("the group that was left out is still whole", len(person.excluded) == 1 and not apart),
        Checked("no content was lost", _contents(before) == _contents(between)),
    )


def _restored(before: Sequence[str], after: Sequence[str], undone: TurnResult) -> Sequence[Checked]:
    return (
        Checked("the rollback was completed", undone.done),
        Checked(f"before and after are equal: {_inventory(before)}, each byte, mode, time and name", before == after),
    )


def _judge(checks: Sequence[Checked], before: Sequence[str], after: Sequence[str]) -> int:
    _say("")
    for check in checks:
        _say(f"{'✔' if check.holds else '✘'} {check.sentence}", "green" if check.holds else "red")
    for line in sorted(set(before) ^ set(after))[:20]:
        _say(f"  {'before' if line in before else 'after '} {_name(line)!r} {line}", "red")
    return 0 if all(check.holds for check in checks) else 1


def _manifest(folder: Path) -> list[str]:
    """List the folder's contents in another process, which shares nothing with the platform."""
    command = [sys.executable, "-I", str(Path(__file__).with_name("manifest.py")), str(folder)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()  # noqa: S603


def _files(manifest: Sequence[str]) -> list[str]:
    return [line for line in manifest if json.loads(line)["type"] == "-"]


def _contents(manifest: Sequence[str]) -> set[str]:
    return {json.loads(line)["sha256"] for line in _files(manifest)}


def _inventory(manifest: Sequence[str]) -> str:
    folders = sum(json.loads(line)["type"] == "d" for line in manifest) - 1
    return f"{words.count(len(_files(manifest)), 'file')} and {words.count(folders, 'folder')}"


def _name(line: str) -> str:
    return bytes.fromhex(json.loads(line)["name"]).decode(errors="replace")


def _say(text: str, style: str = "") -> None:
    console.print(Text(text, style=style))


if __name__ == "__main__":
    sys.exit(main())
