"""Playing cases through a platform, as a client of its API: a session, its turns, and an approval of the diff.

The platform runs for the evaluation alone, with the chosen model. The mode is `bypass`, which asks once, about the
final diff; approving each step as well would end with the same files. A question back is an outcome: the turn is
cancelled.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from typing_extensions import override

from services.cli.address import Address
from services.cli.client import Client
from services.cli.demo import live_platform
from services.cli.evals import trees
from services.cli.evals.cases import Case, Cases, Outcome
from services.cli.evals.scoring import Did, Ran, Score, Stage, judge
from services.cli.evals.trees import Tree
from services.cli.prompts import Reply
from services.cli.show import Watcher
from services.cli.streams import SessionEvent
from services.cli.turns import TurnResult, follow
from services.cli.turns import outcome as outcome_of

PASSED_ON = "SUMA_MODEL"
"""The prefix of the model's settings. The platform of the evaluation gets no others."""
REFUSED = ("refused", "failed")


@dataclass(frozen=True)
class Played:
    """A played case: its score and its costs."""

    score: Score
    outcome: Outcome
    tools: tuple[str, ...]
    said: str
    seconds: float
    catches: int = 0
    """The plans that the committee rejected."""
    tokens: int = 0
    cost_micros: int = 0


class Asked(Exception):
    """The turn asks a question."""


@dataclass
class Observer(Watcher):
    """Record the events of one turn and approve each request."""

    events: list[SessionEvent] = field(default_factory=list)
    diff: Mapping[str, Any] | None = None

    @override
    def on_event(self, event: SessionEvent) -> None:
        self.events.append(event)

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        if question["kind"] == "commit":
            self.diff = question["diff"]
        return {"verdict": "approve"}

    def find_out(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return nothing; cases have no effects outside their folder."""
        return None

    def clarify(self, question: str, candidates: Sequence[Mapping[str, Any]]) -> Reply:
        raise Asked(question)

    def of(self, kind: str) -> Iterator[Mapping[str, Any]]:
        return (event.data for event in self.events if event.type == kind)

    def steps(self) -> tuple[Ran, ...]:
        plans = [data["plan"] for data in self.of("plan.proposed")]
        states = {data["step_id"]: data["state"] for data in self.of("step.changed")}
        return tuple(_ran(step, plan["steps"], states) for plan in plans for step in plan["steps"])

    def catches(self) -> int:
        reviews = [review for data in self.of("plan.proposed") for review in data["reviews"]]
        refused = sum(data.get("reason") == "COMMITTEE_REJECTED" for data in self.of("turn.ended"))
        return sum(not review["approved"] for review in reviews) + int(refused)

    def usage(self, name: str) -> int:
        return sum(int(data["usage"][name]) for data in self.of("message.completed"))


@contextmanager
def platform(model: str | None) -> Iterator[tuple[Address, Path]]:
    """Run a platform, and yield its address and the folder that it may change; remove both at the end."""
    passed = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
    chosen = passed | ({PASSED_ON: model} if model is not None else {})
    with tempfile.TemporaryDirectory(prefix="suma-eval-") as place:
        root = Path(place).resolve()
        with live_platform.platform(root, settings=chosen) as address:
            yield address, root


def play_all(
    address: Address, root: Path, cases: Cases, *, at_once: int, seen: Callable[[Played], None]
) -> tuple[Played, ...]:
    """Play each case in its own folder below `root`, `at_once` at a time; call `seen` as each ends."""
    stopped = threading.Event()

    def play(case: Case) -> Played | None:
        return None if stopped.is_set() else played(address, root, cases, case)

    with ThreadPoolExecutor(at_once) as pool:
        waiting: list[Future[Played | None]] = [pool.submit(play, case) for case in cases.cases]
        try:
            for future in as_completed(waiting):
                if (found := future.result()) is not None:
                    seen(found)
        except BaseException:
            stopped.set()
            raise
    return tuple(found for future in waiting if (found := future.result()) is not None)


def played(address: Address, root: Path, cases: Cases, case: Case) -> Played:
    """Play one case in a new folder and score it."""
    folder = root / case.id / case.folder
    cases.make(case.folder, folder)
    try:
        with Client(address) as suma:
            return _played(suma, folder, case)
    finally:
        shutil.rmtree(root / case.id, ignore_errors=True)


def _played(suma: Client, folder: Path, case: Case) -> Played:
    session = suma.open_session(root=folder, hitl="bypass", title=case.id)
    for turn in case.before:
        earlier = _scored(case.earlier(turn), *_said(suma, session, folder, turn.request))
        if not earlier.score.right:
            detail = f"{turn.request!r}: {earlier.score.detail}"
            score = Score(case, False, Stage.BEFORE, wrong_change=earlier.score.wrong_change, detail=detail)
            return replace(earlier, score=score)
    return _scored(case, *_said(suma, session, folder, case.request))


def _said(
    suma: Client, session: str, folder: Path, text: str, watched: Observer | None = None
) -> tuple[Did, Observer, float]:
    """Send a message, follow its turn to the end, and measure the time."""
    before, watched, began = trees.seen(folder), watched or Observer(), time.monotonic()
    said = suma.say(session, text)
    try:
        ended = follow(suma, session, said["turn_id"], after=said["after"], watcher=watched, person=watched)
        outcome, words = _outcome(ended, watched), ended.answer or ended.reason or ""
        took = time.monotonic() - began
    except Asked as asked:
        outcome, words, took = Outcome.ASKS, str(asked), time.monotonic() - began
        suma.cancel(said["turn_id"])
        # To its end: a turn under way could still touch the folder that is compared next.
        outcome_of(suma, session, said["turn_id"], after=said["after"])
    did = Did(outcome, folder, before, trees.seen(folder), watched.steps(), words, unexplained=True)
    return did, watched, took


def _outcome(ended: TurnResult, watched: Observer) -> Outcome:
    if watched.steps() and ended.state == "completed":
        return Outcome.DOES
    return Outcome.DECLINES if ended.state in REFUSED else Outcome.TALKS


def _scored(case: Case, did: Did, watched: Observer, took: float) -> Played:
    score = judge(case, did)
    if score.right and watched.diff is not None and not announced(did.before, watched.diff, did.after):
        score = Score(case, False, Stage.OTHER_DIFF, wrong_change=True, detail="the approved diff is not what happened")
    tokens = watched.usage("input_tokens") + watched.usage("output_tokens")
    cost = watched.usage("cost_micros")
    return Played(score, did.outcome, did.telling, did.said, took, watched.catches(), tokens, cost)


def announced(before: Tree, diff: Mapping[str, Any], after: Tree) -> bool:
    """Check that the approved diff leads from `before` to `after`. A truncated diff cannot be checked."""
    entries = diff["entries"]
    if len(entries) < int(diff["count"]):
        return True
    moved = {entry["source"]: entry["path"] for entry in entries if entry["change"] == "moved"}
    gone = {entry["path"] for entry in entries if entry["change"] == "deleted"}
    paths = {new for path in before if (new := _place(path, moved, gone)) is not None}
    return paths | {entry["path"] for entry in entries if entry["change"] == "created"} == set(after)


def _place(path: str, moved: Mapping[str, str], gone: set[str]) -> str | None:
    """Find the new path after a diff; the nearest moved or deleted ancestor decides. None: it is deleted."""
    here, below = path, ""
    while here:
        if here in moved:
            return moved[here] + below
        if here in gone:
            return None
        here, _, name = here.rpartition("/")
        below = f"/{name}{below}"
    return path


def _ran(step: Mapping[str, Any], steps: Sequence[Mapping[str, Any]], states: Mapping[str, str]) -> Ran:
    feeds = any(f"$step({step['ordinal']})." in str(other["args"]) for other in steps)
    return Ran(step["tool"], step["mutates"], states.get(step["step_id"]) == "succeeded", feeds, step["args"])
