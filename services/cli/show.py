"""A turn as a person sees it: what will be done, what would change, the answer. How it came about is for `--verbose`.

By default a look at files is only its answer; what changes something is told first, with all that a yes will count
for. Reviews, skills, scores, rules and times are shown to who asks for them (`--verbose`, and `suma events`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Console
from rich.text import Text

from services.cli import phrases, words
from services.cli.flow import Flow, flowed
from services.cli.phrases import Phrases
from services.cli.streams import Seen

if TYPE_CHECKING:
    from libs.retrieval.lexicon import Language

SHOWN, ITEMS_SHOWN = 40, 20
"""Lines of a diff (the rest is `suma diff`), and items of a question."""
FOLDERS_SHOWN, EACH_SHOWN = 12, 6
"""Folders of a diff that has more lines than are shown, and lines of each where there are several."""

SPOKEN_MOST = 5
"""Requests by which it is told in which language a person speaks; of a bare "ok" nobody knows."""

SIGNS = {
    "succeeded": ("✔", "green"),
    "failed": ("✘", "red"),
    "denied": ("✘", "red"),
    "refused": ("✘", "red"),
    "skipped": ("–", "yellow"),
    "cancelled": ("–", "yellow"),
    "rolled_back": ("↩", "yellow"),
    "unknown": ("?", "red"),
}


class Watcher(Protocol):
    """Sees every event of a turn, in order."""

    def saw(self, event: Seen) -> None: ...
    def heard(self, said: str) -> None:
        """All that the model has said of its answer by now; the whole one is an event."""
        ...

    def pause(self) -> None:
        """Stop moving: a person is about to be asked."""
        ...

    def hush(self) -> None:
        """The person has asked for something else: how this turn goes on is no news to them."""
        ...


class JsonLines:
    """Each event as a line of JSON, for programs."""

    def saw(self, event: Seen) -> None:
        sys.stdout.write(json.dumps(event.json(), ensure_ascii=False) + "\n")
        sys.stdout.flush()

    def heard(self, said: str) -> None:
        """Half an answer is of no use to a program."""

    def pause(self) -> None:
        """Nothing moves here."""

    def hush(self) -> None:
        """A program wants all of it."""


class Screen:
    """For a person, in the language of what they wrote. What is under way moves at the bottom, in one line."""

    def __init__(self, console: Console, *, verbose: bool = False) -> None:
        self.console, self.verbose = console, verbose
        self.language: Language = phrases.spoken_here()
        self._status = console.status("")
        self._running: dict[str, str] = {}
        self._began: dict[str, datetime] = {}
        self._said, self._flow = "", Flow()
        self._outcome, self._whole = "", list[str]()
        self._empty, self._undoing = not console.is_terminal, False
        self._hushed = self._formal = False
        self._spoken: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Columns in which lines are broken; a file's are as long as they are."""
        return self.console.width if self.console.is_terminal else 0

    def heard(self, said: str) -> None:
        """Words as they come; what has been written stays."""
        if not self.console.is_terminal or self._hushed:
            return
        self.pause_status()
        text = words.plain(said)
        if not text.startswith(self._said):
            self._break()
        if not self._said:
            self._begin()
        self._said = text
        self._write(self._flow.so_far(text))

    def saw(self, event: Seen) -> None:
        self._hushed = self._hushed and event.type not in ("turn.ended", "clarification.requested")
        show = getattr(self, f"_{event.type.replace('.', '_')}", None)
        if show is not None and not self._hushed:
            show(event)
        self._move(event.type)

    def hears(self, text: str, *before: str) -> None:
        """A person has said something: from now on they are spoken to in its language."""
        self._speaks(text, *before, *self._spoken)

    def pause(self) -> None:
        self._break()
        self.pause_status()

    def hush(self) -> None:
        self._hushed = True

    def pause_status(self) -> None:
        self._status.stop()

    def say(self, text: str, style: str = "") -> None:
        self._break()
        self._empty = False
        self.console.print(Text(flowed(text, self.width), style=style))

    def tell(self, said: Phrases, /, style: str = "", **values: object) -> None:
        self.say(self.words(said, **values), style)

    def words(self, said: Phrases, /, **values: object) -> str:
        template = said[self.language]
        return (phrases.formally(template) if self._formal else template).format(**values)

    def _speaks(self, *texts: str) -> None:
        """The language of what a person has written, the newest first, and in German whether they say Sie."""
        self.language = phrases.language_of(*texts)
        self._formal = self.language == "de" and phrases.formal(*texts)

    def changes(self, number: int) -> str:
        return _counted("count", number, self.language)

    def items(self, items: Sequence[Mapping[str, Any]], most: int) -> None:
        for n, item in enumerate(items[:most], 1):
            self.say(f"  {n:3}. {words.item(item, self.language)}")
        if len(items) > most:
            self.say(f"       {self.words(phrases.MORE, n=len(items) - most)}", "dim")

    def _move(self, kind: str) -> None:
        waiting = phrases.WAITING.get(kind)
        doing = ", ".join(self._running.values()) or (self.words(waiting) if waiting else None)
        if kind == "turn.ended" or doing is None or self._said or not self.console.is_interactive:
            self.pause_status()
        else:
            room = max(10, self.console.width - 4)
            self._status.update(Text(words.line(doing, room), style="dim"))
            self._status.start()

    # The answer

    def _begin(self) -> None:
        """An answer stands apart from what was before it, if anything was."""
        self._write("" if self._empty else "\n")
        self._empty = False
        self._flow = Flow(self.width)

    def _write(self, text: str) -> None:
        self.console.print(Text(text), end="", soft_wrap=True)

    def _break(self) -> None:
        """What was said by now is not how it goes on."""
        if self._said:
            self._write("\n")
        self._said = ""

    def _message_completed(self, event: Seen) -> None:
        self.pause_status()
        if self._undoing and self._outcome and self.language != "en":
            # What a rollback says is English; its outcome is told instead.
            return
        text = words.plain(event.data["text"])
        if not text.startswith(self._said):
            self._break()
        if not self._said:
            self._begin()
        self._write(self._flow.whole(text) + "\n")
        self._said = self._outcome = ""

    def _turn_ended(self, event: Seen) -> None:
        data = event.data
        if self._outcome:
            self.say(self._outcome, "green")
        for whole in self._whole:
            self.say(whole, "dim")
        self._outcome, self._whole = "", []
        if data["state"] == "completed":
            return
        sign, style = SIGNS.get(data["state"], ("✘", "red"))
        # A person who has stopped something knows why.
        told = (data["reason"], data["detail"]) if self.verbose or data["state"] != "cancelled" else ()
        why = self._why(": ".join(words.line(part, 300) for part in told if part))
        self.say(f"{sign} {self._state(data['state'])}{f' ({why})' if why else ''}", style)

    # The way there

    def _turn_started(self, event: Seen) -> None:
        """A rollback has no message, and speaks as what was said before."""
        self._undoing = event.data.get("message_id", "") is None
        if not self._undoing:
            self._spoken = (event.data.get("text") or "", *self._spoken)[:SPOKEN_MOST]
            self._speaks(*self._spoken)

    def _turn_queued(self, event: Seen) -> None:
        self.tell(phrases.QUEUED, "dim", n=event.data["position"])

    def _turn_degraded(self, event: Seen) -> None:
        self.say(event.data["detail"] or f"going on without {event.data['missing']}", "yellow")

    def _turn_analysed(self, event: Seen) -> None:
        if self.verbose:
            tags = f" about {', '.join(event.data['tags'])}" if event.data["tags"] else ""
            self.say(f"understood as {event.data['intent'].replace('_', ' ')}{tags}", "dim")

    def _plan_proposed(self, event: Seen) -> None:
        plan, data = event.data["plan"], event.data
        changes = [step for step in plan["steps"] if step["mutates"]]
        if self.verbose:
            self._explained(plan, data)
        elif len(changes) > 1:
            # What one change comes to, its question shows.
            self.say("")
            self.tell(phrases.PLAN, "bold")
            for n, step in enumerate(changes, 1):
                self.say(f"  {n}. {_of(step)}")

    def _explained(self, plan: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        """All that is known of how the plan came about."""
        if not plan["steps"]:
            return
        self.say(f"\nPlan  {words.plain(plan['reasoning'])}".rstrip(), "bold")
        for step in plan["steps"]:
            mark = f" ({self.words(phrases.CHANGES)})" if step["mutates"] else ""
            self.say(f"  {step['ordinal']}. {_of(step)}{mark}")
            args = words.line(json.dumps(step.get("args", {}), ensure_ascii=False), 300)
            self.say(f"     {step.get('tool', '?')} {args}", "dim")
        for review in data["reviews"]:
            self._review(review)
        if not data["committee"]:
            self.say("  It only reads, so the committee was not needed.", "dim")
        self.say("")

    def _review(self, review: Mapping[str, Any]) -> None:
        sign, style = ("✔", "green") if review["approved"] else ("✘", "yellow")
        where = f" step {review['step']}:" if review.get("step") else ""
        reason = words.line(review["reason"] or ("approved" if review["approved"] else "rejected"), 300)
        self.say(f"  {sign} review by {review['by'] or 'critic'}:{where} {reason}", style)

    def _step_changed(self, event: Seen) -> None:
        data, now = event.data, datetime.fromisoformat(event.time)
        if data["state"] == "running":
            self._began[data["step_id"]] = now
            self._running[data["step_id"]] = _of(data)
            return
        self._running.pop(data["step_id"], None)
        if data["state"] not in SIGNS:
            return
        if self.verbose:
            self._ended(data, now)
        elif data["state"] not in ("succeeded", "rolled_back") and not _denied_by_a_person(data):
            sign, style = SIGNS[data["state"]]
            why = f": {self._why(words.line(data['error'], 300))}" if data["error"] else ""
            self.say(f"{sign} {_of(data)} – {self._state(data['state'])}{why}", style)
        if result := data.get("result"):
            size, id = words.size(result["size"]), words.line(result["asset_id"])
            self._whole.append(self.words(phrases.WHOLE, size=size, id=id))

    def _ended(self, data: Mapping[str, Any], now: datetime) -> None:
        sign, style = SIGNS[data["state"]]
        said = words.line(data["summary"] or data["error"] or data["state"], 300)
        began = self._began.pop(data["step_id"], None)
        took = f" ({(now - began).total_seconds():.1f} s)" if began is not None else ""
        self.say(f"{sign} {data['ordinal']}. {_of(data)}: {said}{took}", style)

    # Questions

    def _approval_requested(self, event: Seen) -> None:
        """All that an answer will count for."""
        question = event.data
        self.say(f"\n? {words.plain(question['title'])}", "bold yellow")
        if question["kind"] == "commit" and question["diff"] is not None:
            diff_of(self, question["diff"], items=question["items"])
        else:
            self._args(question["args"])
            self.items(question["items"], ITEMS_SHOWN)
        if detail := question.get("detail"):
            self.say(f"  {words.plain(phrases.formally(detail) if self._formal else detail)}", "yellow")
        if question["undo"]:
            self.say(f"  {words.plain(question['undo'])}", "dim")
        if self.verbose and question.get("rule"):
            self.say(f"  rule: {words.line(question['rule'])}", "dim")

    def _args(self, args: Mapping[str, Any]) -> None:
        """All but the lists, whose entries are the items, and a place that is the whole folder."""
        for name, value in args.items():
            if not isinstance(value, list) and (self.verbose or (name, value) != ("path", ".")):
                self.say(f"  {words.line(name)}: {words.line(value, 300)}")

    def _clarification_requested(self, event: Seen) -> None:
        """What the question itself does not tell of the choices is listed."""
        self.say(f"\n? {words.plain(event.data['question'])}", "bold yellow")
        told = choices(event.data)
        if not self.verbose and all(one["description"] in event.data["question"] for one in told):
            return
        for n, candidate in enumerate(told, 1):
            which = f" ({words.line(candidate['skill'])}, {candidate['score']:.2f})" if self.verbose else ""
            self.say(f"  {n:3}. {words.line(candidate['description'], 300)}{which}")

    def _approval_closed(self, event: Seen) -> None:
        """The person knows what they have answered."""
        data = event.data
        reason = f": {words.line(data['reason'])}" if data["reason"] else ""
        if self.verbose:
            self.say(f"  {data['outcome']}{reason}", "dim")
        elif (said := phrases.CLOSED.get(data["outcome"])) is not None:
            self.tell(said, "yellow")

    def _workspace_changed(self, event: Seen) -> None:
        data = event.data
        if data["change"] == "conflicted":
            self.tell(phrases.MET_OTHERS, "yellow")
            for path in data["conflicts"][:SHOWN]:
                self.say(f"  {words.line(path)}")
        elif (said := phrases.CHANGED.get(data["change"])) is not None:
            # Told at the end, unless the answer does.
            self._outcome = self.words(said, n=self.changes(data["operations"]))

    def _why(self, error: str) -> str:
        """In plain words; who wants to know all of it gets the codes."""
        if self.verbose or not error:
            return error
        from libs.events import reasons  # not needed where all went well

        return reasons.plain(error, self.language)

    def _state(self, state: str) -> str:
        return self.words(phrases.STATES[state]) if state in phrases.STATES else words.line(state)


def choices(asked: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The skills among which a question lets choose, where it doesn't do so itself; where something else is missing,
    there is no choice.
    """
    told = asked.get("missing") or "(1)" in asked["question"]  # which it counts itself
    return () if told else asked["candidates"]


def _denied_by_a_person(step: Mapping[str, Any]) -> bool:
    """They know; what policy denies they do not."""
    return bool(step["state"] == "denied" and not (step["error"] or "").startswith("policy:"))


def _of(step: Mapping[str, Any]) -> str:
    return words.line(step["description"], 300).rstrip(".")


def diff_of(
    screen: Screen, diff: Mapping[str, Any], *, most: int = SHOWN, items: Sequence[Mapping[str, Any]] = ()
) -> None:
    """A diff as lines, with its sums at the end; the `items` of a question know more of its entries."""
    language, known = screen.language, {item["id"]: item for item in items}
    told = [{**known.get(entry["path"], {}), **entry} for entry in diff["entries"]]
    shown = _lines(screen, told) if len(told) <= most else _by_folder(screen, told, most)
    if diff["count"] > shown:
        screen.say(f"  {screen.words(phrases.MORE_CHANGES, n=diff['count'] - shown)}", "dim")
    # A deleted folder is one line, and all that it holds is deleted.
    numbers = {kind: diff[kind] for kind in ("created", "changed", "moved", "deleted") if diff[kind]}
    sums = [_counted(kind, number, language) for kind, number in numbers.items()]
    if diff["bytes_freed"]:
        sums.append(screen.words(phrases.FREED, size=words.size(diff["bytes_freed"])))
    screen.say(f"  {': '.join(filter(None, (screen.changes(sum(numbers.values())), ', '.join(sums))))}", "bold")


def _lines(screen: Screen, told: Sequence[Mapping[str, Any]], *, indent: str = "  ") -> int:
    for entry in told:
        screen.say(f"{indent}{words.change(entry, screen.language)}", STYLES.get(entry["change"], ""))
    return len(told)


def _by_folder(screen: Screen, told: Sequence[Mapping[str, Any]], most: int) -> int:
    """The first of each folder, and how many changes there are in it: what a long list comes to, at a glance."""
    folders: dict[str, list[Mapping[str, Any]]] = {}
    for entry in told:
        folders.setdefault(entry["path"].rpartition("/")[0], []).append(entry)
    shown, each = 0, most if len(folders) == 1 else min(EACH_SHOWN, most // min(FOLDERS_SHOWN, len(folders)))
    for folder, here in [*folders.items()][:FOLDERS_SHOWN]:
        place = f"{words.line(folder)}/" if folder else screen.words(phrases.RIGHT_HERE)
        screen.say(f"  {place} ({screen.changes(len(here))})", "bold")
        shown += _lines(screen, here[:each], indent="    ")
    return shown


OPPOSITE = {"created": "deleted", "deleted": "created", "moved": "moved", "changed": "changed"}


def taken_back(diff: Mapping[str, Any]) -> Mapping[str, Any]:
    """What undoing a diff does: the same changes the other way."""
    numbers = {change: diff[other] for change, other in OPPOSITE.items()}
    return {**diff, **numbers, "bytes_freed": 0, "entries": [*map(_back, diff["entries"])]}


def _back(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was made goes, be it a copy or not; what was moved goes where it came from."""
    told = {**entry, "change": OPPOSITE[entry["change"]], "back": True}
    return told | (
        {"path": entry["source"], "source": entry["path"]} if entry["change"] == "moved" else {"source": None}
    )


def _counted(what: str, number: int, language: Language) -> str:
    one, many = phrases.DIFF[what][language]
    return f"{number} {one if number == 1 else many}"


STYLES = {"created": "green", "deleted": "red", "changed": "yellow", "moved": "cyan"}
