"""A turn as it happens, line by line: the plan and its reviews, each step, what changed, the answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from services.cli import words
from services.cli.streams import Seen

SHOWN, ITEMS_SHOWN = 40, 20
"""Lines of a diff (the rest is `suma diff`), and items of a question."""

HEARD_MOST = 10_000
"""Letters of an answer under way, from its end."""

SIGNS = {
    "succeeded": ("✔", "green"),
    "failed": ("✘", "red"),
    "denied": ("✘", "red"),
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


class JsonLines:
    """Each event as a line of JSON, for programs."""

    def saw(self, event: Seen) -> None:
        sys.stdout.write(json.dumps(event.json(), ensure_ascii=False) + "\n")
        sys.stdout.flush()

    def heard(self, said: str) -> None:
        """Half an answer is of no use to a program."""

    def pause(self) -> None:
        """Nothing moves here."""


class Screen:
    """For a person. What is under way moves at the bottom; what is done stays above it."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._status = console.status("")
        self._speech = Live(console=console, auto_refresh=False, transient=True)
        self._running: dict[str, str] = {}

    def heard(self, said: str) -> None:
        """Words as they come, until the whole answer takes their place."""
        if not self.console.is_terminal:
            return
        self._status.stop()
        self._speech.start()
        self._speech.update(self._last_lines(words.plain(said)), refresh=True)

    def _last_lines(self, text: str) -> Text:
        """As many as the screen has room for: more could not be taken back."""
        most = max(1, self.console.height - 2)
        lines = Text(text[-HEARD_MOST:]).wrap(self.console, self.console.width)[-most:]
        return Text("\n").join(lines)

    def saw(self, event: Seen) -> None:
        self._speech.stop()
        show = getattr(self, f"_{event.type.replace('.', '_')}", None)
        if show is not None:
            show(event.data)
        self._move(event.type)

    def pause(self) -> None:
        self._status.stop()
        self._speech.stop()

    def say(self, text: str, style: str = "") -> None:
        self.console.print(Text(text, style=style))

    def _move(self, kind: str) -> None:
        doing = ", ".join(self._running.values()) or WAITING.get(kind)
        if kind == "turn.ended" or doing is None or not self.console.is_terminal:
            self._status.stop()
        else:
            self._status.update(Text(doing, style="dim"))
            self._status.start()

    def _turn_queued(self, data: Mapping[str, Any]) -> None:
        self.say(f"waiting: {words.count(data['position'], 'message')} before this one's turn", "dim")

    def _turn_degraded(self, data: Mapping[str, Any]) -> None:
        self.say(data["detail"] or f"going on without {data['missing']}", "yellow")

    def _turn_analysed(self, data: Mapping[str, Any]) -> None:
        tags = f" about {', '.join(data['tags'])}" if data["tags"] else ""
        self.say(f"understood as {data['intent'].replace('_', ' ')}{tags}", "dim")

    def _plan_proposed(self, data: Mapping[str, Any]) -> None:
        plan = data["plan"]
        if not plan["steps"]:
            return
        self.say(f"\nPlan  {words.plain(plan['reasoning'])}".rstrip(), "bold")
        for step in plan["steps"]:
            mark = " (changes files)" if step["mutates"] else ""
            self.say(f"  {step['ordinal']}. {_of(step)}{mark}")
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

    def _step_changed(self, data: Mapping[str, Any]) -> None:
        if data["state"] == "running":
            self._running[data["step_id"]] = f"{data['ordinal']}. {_of(data)}"
            return
        self._running.pop(data["step_id"], None)
        if data["state"] not in SIGNS:
            return
        sign, style = SIGNS[data["state"]]
        said = data["summary"] or data["error"] or data["state"]
        self.say(f"{sign} {data['ordinal']}. {_of(data)}: {words.line(said, 300)}", style)
        if result := data.get("result"):
            size, id = words.size(result["size"]), words.line(result["asset_id"])
            self.say(f"     all of it ({size}): suma fetch {id}", "dim")

    def _approval_requested(self, question: Mapping[str, Any]) -> None:
        """All that an answer will count for."""
        self.say(f"\n? {words.plain(question['title'])}", "bold yellow")
        if question["kind"] == "commit" and question["diff"] is not None:
            diff_of(self.console, question["diff"])
        else:
            self._args(question["args"])
            self.items(question["items"], ITEMS_SHOWN)
        for said in filter(None, (question["undo"], question.get("detail"))):
            self.say(f"  {words.plain(said)}", "dim")

    def _args(self, args: Mapping[str, Any]) -> None:
        """All but the lists, whose entries are the items."""
        for name, value in args.items():
            if not isinstance(value, list):
                self.say(f"  {words.line(name)}: {words.line(value, 300)}")

    def items(self, items: Sequence[Mapping[str, Any]], most: int) -> None:
        for n, item in enumerate(items[:most], 1):
            self.say(f"  {n:3}. {words.item(item)}")
        if len(items) > most:
            self.say(f"       … and {len(items) - most} more", "dim")

    def _clarification_requested(self, data: Mapping[str, Any]) -> None:
        self.say(f"\n? {words.plain(data['question'])}", "bold yellow")
        for n, candidate in enumerate(data["candidates"], 1):
            about = words.line(candidate["description"])
            self.say(f"  {n:3}. {words.line(candidate['skill'])} ({candidate['score']:.2f})  {about}")

    def _approval_closed(self, data: Mapping[str, Any]) -> None:
        reason = f": {words.line(data['reason'])}" if data["reason"] else ""
        self.say(f"  {data['outcome']}{reason}", "dim")

    def _workspace_changed(self, data: Mapping[str, Any]) -> None:
        match data["change"]:
            case "conflicted":
                self.say("Nothing was changed: someone else was at these files meanwhile.", "yellow")
                for path in data["conflicts"][:SHOWN]:
                    self.say(f"  {words.line(path)}")
            case change:
                operations = f" ({words.count(data['operations'], 'operation')})" if data["operations"] else ""
                self.say(f"✔ {change.replace('_', ' ')}{operations}", "green")

    def _message_completed(self, data: Mapping[str, Any]) -> None:
        self.pause()
        self.say(f"\n{words.plain(data['text'])}")

    def _turn_ended(self, data: Mapping[str, Any]) -> None:
        if data["state"] != "completed":
            why = ": ".join(words.line(part, 300) for part in (data["reason"], data["detail"]) if part)
            self.say(f"✘ {data['state']}{f' ({why})' if why else ''}", "red")


def _of(step: Mapping[str, Any]) -> str:
    return words.line(step["description"]).rstrip(".")


WAITING = {
    "message.accepted": "waiting",
    "turn.started": "reading the request",
    "turn.analysed": "thinking",
    "plan.proposed": "starting",
    "step.changed": "working",
    "approval.closed": "going on",
    "workspace.changed": "answering",
}
"""What is said to be under way after an event, while no step runs."""


def diff_of(console: Console, diff: Mapping[str, Any], *, most: int = SHOWN) -> None:
    """A diff as lines, with its sums at the end."""
    for entry in diff["entries"][:most]:
        console.print(Text(f"  {words.change(entry)}", style=STYLES.get(entry["change"], "")))
    if diff["count"] > most:
        console.print(
            Text(f"  … {diff['count'] - min(most, len(diff['entries']))} more: `suma diff` shows them", "dim")
        )
    kinds = [f"{diff[kind]} {kind}" for kind in ("created", "changed", "moved", "deleted") if diff[kind]]
    freed = f", {words.size(diff['bytes_freed'])} freed" if diff["bytes_freed"] else ""
    console.print(Text(f"  {words.count(diff['count'], 'change')}: {', '.join(kinds) or 'none'}{freed}", "bold"))


STYLES = {"created": "green", "deleted": "red", "changed": "yellow", "moved": "cyan"}
