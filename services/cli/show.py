"""The terminal display of a turn: the plan, the changes and the answer; `--verbose` adds the details.

By default a read-only turn shows only its answer. A turn that changes files shows everything that a yes will approve.
Reviews, skills, scores, rules and times need `--verbose` or `suma events`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.text import Text
from typing_extensions import override

from libs import texts
from services.cli import phrases, words
from services.cli.flow import Flow, flowed
from services.cli.streams import SessionEvent

SHOWN, ITEMS_SHOWN = 40, 20
"""The most lines of a diff (`suma diff` shows all), and the most items of a question."""
GROUPS_SHOWN, EACH_SHOWN, RISKY_SHOWN, PREVIEW_SHOWN = 30, 3, 20, 12
"""For a longer diff: the most groups shown, and the most lines of each; of a text, the most lines that change."""

OUTPUT_SHOWN = 20
"""The most lines of a command's output from its beginning, and as many from its end, that its result shows."""

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


class Watcher:
    """A display that receives every event of a turn, in order. This one shows nothing."""

    def on_event(self, event: SessionEvent) -> None:
        """Show the event."""

    def on_text(self, text: str) -> None:
        """Show the answer text so far; the complete answer comes as an event."""

    def on_output(self, step: str, output: str) -> None:
        """Show the output so far of a step's command; the result comes as an event."""

    def pause(self) -> None:
        """Stop moving output: a prompt follows."""

    def mute(self) -> None:
        """Show nothing more of this turn: the person has requested something else."""


class JsonLines(Watcher):
    """A display for programs: one line of JSON per event."""

    @override
    def on_event(self, event: SessionEvent) -> None:
        sys.stdout.write(json.dumps(event.json(), ensure_ascii=False) + "\n")
        sys.stdout.flush()


class Screen(Watcher):
    """A display for a person, with the running steps in one moving line at the bottom."""

    def __init__(self, console: Console, *, verbose: bool = False) -> None:
        self.console, self.verbose = console, verbose
        self._status = console.status("")
        self._running: dict[str, str] = {}
        self._began: dict[str, datetime] = {}
        self._asked_about: set[str] = set()
        """Steps that a person decided on, whose results therefore are shown."""
        self._partial, self._flow = "", Flow()
        self._outcome, self._whole = "", list[str]()
        self._outputs: dict[str, str] = {}
        """The output of each running command that is on the screen."""
        self._empty, self._muted = not console.is_terminal, False
        self._undoing = ""

    @property
    def width(self) -> int:
        """Return the columns at which lines wrap; 0 for a file, whose lines stay whole."""
        return self.console.width if self.console.is_terminal else 0

    @override
    def on_text(self, text: str) -> None:
        """Append new text; text already written stays."""
        if not self.console.is_terminal or self._muted:
            return
        from services.cli import prose  # not needed where nothing is answered

        self.pause_status()
        text = prose.so_far(words.plain(text))
        if not text.startswith(self._partial):
            self._break()
        if not self._partial:
            self._begin()
        self._partial = text
        self._write(self._flow.so_far(text))

    @override
    def on_output(self, step: str, output: str) -> None:
        """Append the new lines; an incomplete one waits for its end."""
        lines = output[: output.rfind("\n") + 1]
        if self.console.is_terminal and not self._muted and lines and (doing := self._running.get(step)):
            self.pause_status()
            if step not in self._outputs:
                self.say(doing)
            self._show_output(lines.removeprefix(self._outputs.get(step, "")))
            self._outputs[step] = lines

    @override
    def on_event(self, event: SessionEvent) -> None:
        self._muted = self._muted and event.type not in ("turn.ended", "clarification.requested")
        show = getattr(self, f"_{event.type.replace('.', '_')}", None)
        if show is not None and not self._muted:
            show(event)
        self._move(event.type)

    @override
    def pause(self) -> None:
        self._break()
        self.pause_status()

    @override
    def mute(self) -> None:
        self._muted = True

    def pause_status(self) -> None:
        self._status.stop()

    def say(self, text: str, style: str = "") -> None:
        self._break()
        self._empty = False
        self.console.print(Text(flowed(text, self.width), style=style))

    def tell(self, template: str, /, style: str = "", **values: object) -> None:
        self.say(self.words(template, **values), style)

    def words(self, template: str, /, **values: object) -> str:
        return template.format(**values)

    def changes(self, number: int) -> str:
        return _counted("count", number)

    def items(self, items: Sequence[Mapping[str, Any]], most: int) -> None:
        for n, item in enumerate(items[:most], 1):
            self.say(f"  {n:3}. {words.item(item)}")
        if len(items) > most:
            self.say(f"       {self.words(phrases.MORE, n=texts.number(len(items) - most))}", "dim")

    def _move(self, kind: str) -> None:
        waiting = phrases.WAITING.get(kind)
        doing = ", ".join(self._running.values()) or (self.words(waiting) if waiting else None)
        if kind == "turn.ended" or doing is None or self._partial or not self.console.is_interactive:
            self.pause_status()
        else:
            room = max(10, self.console.width - 4)
            self._status.update(Text(words.line(doing, room), style="dim"))
            self._status.start()

    # The answer

    def _begin(self) -> None:
        """Start an answer, after a blank line if anything was printed before it."""
        self._write("" if self._empty else "\n")
        self._empty = False
        self._flow = Flow(self.width)

    def _write(self, text: str) -> None:
        self.console.print(Text(text), end="", soft_wrap=True)

    def _break(self) -> None:
        """End a partial answer that will not be continued."""
        if self._partial:
            self._write("\n")
        self._partial = ""

    def _message_completed(self, event: SessionEvent) -> None:
        self.pause_status()
        text = self._prose(event.data["text"])
        if not text.startswith(self._partial):
            self._break()
        if not self._partial:
            self._begin()
        self._write(self._flow.whole(text) + "\n")
        self._partial = self._outcome = ""

    def _prose(self, text: str) -> str:
        """Return a text of a model: without the marks of Markdown in a terminal, as it is in a file."""
        from services.cli import prose  # not needed where nothing is answered

        return prose.unmarked(words.plain(text)) if self.console.is_terminal else words.plain(text)

    def _turn_ended(self, event: SessionEvent) -> None:
        data = event.data
        if self._outcome:
            self.say(self._outcome, "green")
        for whole in self._whole:
            self.say(whole, "dim")
        self._outcome, self._whole = "", []
        if data["state"] != "completed":
            self._not_done(data)
        used = data.get("usage") or {}
        if tokens := used.get("input_tokens", 0) + used.get("output_tokens", 0):
            price = f", ${used['cost_micros'] / 1e6:,.4f}" if used["cost_micros"] else ""
            self.say(f"{words.line(used['model'])}: {texts.count(tokens, 'token')}{price}", "dim")

    def _not_done(self, data: Mapping[str, Any]) -> None:
        sign, style = SIGNS.get(data["state"], ("✘", "red"))
        # A person who stopped the turn knows the reason.
        parts = (data["reason"], data["detail"]) if self.verbose or data["state"] != "cancelled" else ()
        why = self._why(": ".join(words.line(part, 300) for part in parts if part))
        self.say(f"{sign} {self._state(data['state'])}{f' ({why})' if why else ''}", style)

    # Progress

    def _turn_started(self, event: SessionEvent) -> None:
        """Note whether this is a rollback or a redo, which has no message."""
        self._undoing = event.data["text"] if event.data.get("message_id", "") is None else ""
        if agent := event.data.get("agent"):
            self.say(f"agent: {words.line(agent)}", "dim")

    def _turn_queued(self, event: SessionEvent) -> None:
        self.tell(phrases.QUEUED, "dim", n=event.data["position"])

    def _turn_degraded(self, event: SessionEvent) -> None:
        self.say(event.data["detail"] or f"going on without {event.data['missing']}", "yellow")

    def _turn_analysed(self, event: SessionEvent) -> None:
        if self.verbose:
            tags = f" about {', '.join(event.data['tags'])}" if event.data["tags"] else ""
            self.say(f"understood as {event.data['intent'].replace('_', ' ')}{tags}", "dim")

    def _plan_proposed(self, event: SessionEvent) -> None:
        plan, data = event.data["plan"], event.data
        changes = [step for step in plan["steps"] if step["mutates"]]
        if self.verbose:
            self._explained(plan, data)
        elif len(changes) > 1:
            # A single change is described by its question.
            self.say("")
            self.tell(phrases.PLAN, "bold")
            for n, step in enumerate(changes, 1):
                self.say(f"  {n}. {_of(step)}")

    def _explained(self, plan: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        """Print the plan with its arguments and reviews."""
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

    def _step_changed(self, event: SessionEvent) -> None:
        data, now = event.data, datetime.fromisoformat(event.time)
        if data["state"] == "running":
            self._began[data["step_id"]] = now
            self._running[data["step_id"]] = _of(data)
            return
        self._running.pop(data["step_id"], None)
        written = self._outputs.pop(data["step_id"], "")
        if data["state"] == "awaiting_approval":
            self._asked_about.add(data["step_id"])
        if data["state"] not in SIGNS:
            return
        if data["state"] == "succeeded" and "exit_code" in (done := data.get("data") or {}):
            self._command_ended(data["summary"], done, written)
        elif self.verbose:
            self._ended(data, now)
        elif data["state"] == "succeeded" and data["step_id"] in self._asked_about and not data.get("proposed"):
            self.say(f"✔ {words.line(data['summary'], 300)}", "green")
        elif data["state"] not in ("succeeded", "rolled_back") and not _denied_by_a_person(data):
            sign, style = SIGNS[data["state"]]
            why = f": {self._why(words.line(data['error'], 300))}" if data["error"] else ""
            self.say(f"{sign} {_of(data)} – {self._state(data['state'])}{why}", style)
        if result := data.get("result"):
            size, id = words.size(result["size"]), words.line(result["asset_id"])
            # Only the last result matters: the answer is about it, and the others were its inputs.
            self._whole = [self.words(phrases.WHOLE, size=size, id=id)]

    def _command_ended(self, summary: str, done: Mapping[str, Any], written: str) -> None:
        """Show the output that is not on the screen yet, and how the command ended."""
        self._show_output(done["output"].removeprefix(written), most=OUTPUT_SHOWN)
        well = done["exit_code"] == 0 and not done["limit"]
        sign, style = ("✔", "dim") if well else ("✘", "red")
        where = self.words(phrases.SANDBOX, name=words.line(done["sandbox"]))
        self.say(f"{sign} {words.line(summary, 300)} {where}", style)
        for template, paths in phrases.OF_COMMANDS.items():
            if named := [_path(one) for one in done.get(paths) or ()]:
                self.tell(f"  {template}", "dim", paths=texts.joined(named))

    def _show_output(self, output: str, *, most: int | None = None) -> None:
        lines = output.rstrip("\n").split("\n") if output.strip("\n") else []
        if most is not None and len(lines) > 2 * most:
            left_out = self.words(phrases.LINES_LEFT_OUT, n=texts.number(len(lines) - 2 * most))
            lines = [*lines[:most], left_out, *lines[-most:]]
        for line in lines:
            self.say(f"  {words.plain(line)}", "dim")

    def _ended(self, data: Mapping[str, Any], now: datetime) -> None:
        sign, style = SIGNS[data["state"]]
        detail = words.line(data.get("proposed") or data["summary"] or data["error"] or data["state"], 300)
        began = self._began.pop(data["step_id"], None)
        took = f" ({(now - began).total_seconds():.1f} s)" if began is not None else ""
        self.say(f"{sign} {data['ordinal']}. {_of(data)}: {detail}{took}", style)
        for mark in data.get("marks", ()):
            self.tell(phrases.MARK, "dim", kind=mark["kind"], source=words.line(mark["source"], 300))

    # Questions

    def _approval_requested(self, event: SessionEvent) -> None:
        """Show everything that the answer will apply to."""
        question = event.data
        self.say(f"\n? {words.plain(question['title'])}", "bold yellow")
        if question["kind"] == "commit" and question["diff"] is not None:
            diff_of(self, question["diff"], items=question["items"])
        else:
            self._args(question["args"])
            self.items(question["items"], ITEMS_SHOWN)
        if detail := question.get("detail"):
            self.say(f"  {words.plain(detail)}", "yellow")
        if because := question.get("because"):
            sources = dict.fromkeys(words.line(mark["source"], 300) for mark in because)
            self.tell(phrases.BECAUSE, "yellow", sources=texts.joined(list(sources)))
        if question["undo"]:
            self.say(f"  {words.plain(question['undo'])}", "dim")
        if self.verbose and question.get("rule"):
            self.say(f"  rule: {words.line(question['rule'])}", "dim")

    def _args(self, args: Mapping[str, Any]) -> None:
        """Print the arguments, except lists (shown as items) and a path that is the whole folder."""
        for name, value in args.items():
            if not isinstance(value, list) and (self.verbose or (name, value) != ("path", ".")):
                self.say(f"  {words.line(name)}: {words.line(value, 300)}")

    def _clarification_requested(self, event: SessionEvent) -> None:
        """List the choices that the question itself does not name, and the answers that it offers."""
        self.say(f"\n? {self._prose(event.data['question'])}", "bold yellow")
        listed = choices(event.data)
        named = all("skill" in one and one["description"] in event.data["question"] for one in listed)
        if not self.verbose and (named or "(1)" in event.data["question"]):
            return
        for n, candidate in enumerate(listed, 1):
            scored = self.verbose and "skill" in candidate
            which = f" ({words.line(candidate['skill'])}, {candidate['score']:.2f})" if scored else ""
            self.say(f"  {n:3}. {words.line(candidate['description'], 300)}{which}")

    def _approval_closed(self, event: SessionEvent) -> None:
        """Report an outcome that the person did not choose."""
        data = event.data
        reason = f": {words.line(data['reason'])}" if data["reason"] else ""
        if self.verbose:
            self.say(f"  {data['outcome']}{reason}", "dim")
        elif (template := phrases.CLOSED.get(data["outcome"])) is not None:
            self.tell(template, "yellow")

    def _workspace_changed(self, event: SessionEvent) -> None:
        data = event.data
        if data["change"] == "conflicted":
            self.say(phrases.MODIFIED, "yellow")
            for path in data["conflicts"][:SHOWN]:
                self.say(f"  {words.line(path)}")
            if self._undoing in phrases.REST:
                self.say(phrases.REST[self._undoing], "yellow")
        elif (template := phrases.CHANGED.get(data["change"])) is not None:
            # Printed at the end, unless the answer reports it.
            self._outcome = self.words(template, n=self.changes(data["operations"]))

    def _why(self, error: str) -> str:
        """Return the error in plain words; `--verbose` keeps the codes."""
        if self.verbose or not error:
            return error
        from libs.events import reasons  # not needed where all went well

        return reasons.plain(error)

    def _state(self, state: str) -> str:
        return self.words(phrases.STATES[state]) if state in phrases.STATES else words.line(state)


def choices(asked: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the skills or answers to choose from; none if the question asks for other input."""
    if asked.get("missing"):
        return ()
    offers = [{"description": offer} for offer in asked.get("offers") or () if offer not in YES_OR_NO]
    return [*asked["candidates"], *offers]


def _path(one: str | Mapping[str, str]) -> str:
    """Format a path of a command's result, with the reason if it has one."""
    return words.line(one) if isinstance(one, str) else words.line(f"{one['path']} ({one['reason']})", 300)


def _denied_by_a_person(step: Mapping[str, Any]) -> bool:
    """Check for a refusal by the person, who knows it already; a refusal by policy is news."""
    return bool(step["state"] == "denied" and not (step["error"] or "").startswith("policy:"))


def _of(step: Mapping[str, Any]) -> str:
    return words.line(step["description"], 300).rstrip(".")


def diff_of(
    screen: Screen, diff: Mapping[str, Any], *, most: int = SHOWN, items: Sequence[Mapping[str, Any]] = ()
) -> None:
    """Print a diff with its totals; `items` of a question add details to its entries."""
    known = {item["id"]: item for item in items}
    entries = [{**known.get(entry["path"], {}), **entry} for entry in diff["entries"]]
    listed = len(entries) == diff["count"] <= most
    shown = _lines(screen, entries) if listed else _by_group(screen, diff, entries)
    if diff["count"] > shown:
        screen.say(f"  {screen.words(phrases.MORE_CHANGES, n=texts.number(diff['count'] - shown))}", "dim")
    # A deleted folder counts as one line, with everything in it.
    numbers = {kind: diff[kind] for kind in SIGNED if diff.get(kind)}
    sums = [_counted(kind, number) for kind, number in numbers.items()]
    if freed := diff["bytes_freed"]:
        days = diff.get("kept_days")
        until = screen.words(phrases.FREED, days=texts.count(days, "day")) if days is not None else ""
        sums.append(screen.words(phrases.KEPT, size=words.size(freed)) + until)
    screen.say(f"  {': '.join(filter(None, (screen.changes(sum(numbers.values())), ', '.join(sums))))}", "bold")


def _lines(screen: Screen, entries: Sequence[Mapping[str, Any]], *, indent: str = "  ") -> int:
    for entry in entries:
        screen.say(f"{indent}{words.change(entry)}", STYLES.get(entry["change"], ""))
        _preview(screen, entry, f"{indent}  ")
    return len(entries)


def _preview(screen: Screen, entry: Mapping[str, Any], indent: str) -> None:
    """Print the beginning of what changes in a text."""
    if entry.get("preview") is None or entry.get("back"):
        return
    lines = entry["preview"].splitlines()
    for line in lines[:PREVIEW_SHOWN]:
        screen.say(f"{indent}{words.plain(line)}", PREVIEW_STYLES.get(line[:1], "dim"))
    if len(lines) > PREVIEW_SHOWN or entry["preview_cut"]:
        screen.say(f"{indent}…", "dim")


def _by_group(screen: Screen, diff: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> int:
    """Print a long diff by kind and folder, the riskiest first: the true count of each, and its first changes."""
    groups = diff.get("groups") or ()
    here: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for entry in entries:
        here.setdefault((entry["change"], entry["path"].rpartition("/")[0]), []).append(entry)
    shown = 0
    for group in groups[:GROUPS_SHOWN]:
        place = f"{words.line(group['folder'])}/" if group["folder"] else phrases.RIGHT_HERE
        head = phrases.GROUP.format(verb=phrases.VERBS[group["change"]], n=texts.number(group["things"]), place=place)
        screen.say(f"  {head}", f"bold {STYLES[group['change']]}")
        each = RISKY_SHOWN if group["change"] in RISKY else EACH_SHOWN
        shown += _lines(screen, here.get((group["change"], group["folder"]), [])[:each], indent="    ")
    if (more := len(groups[GROUPS_SHOWN:]) + diff.get("more_groups", 0)) > 0:
        screen.say(f"  {screen.words(phrases.MORE_FOLDERS, n=texts.number(more))}", "dim")
    return shown


YES_OR_NO = ("Yes", "No")
"""Offers that need no number."""


def taken_back(diff: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the reverse of a diff, as an undo would apply it, the riskiest changes first."""
    numbers = {change: diff.get(other, 0) for change, other in OPPOSITE.items()}
    groups = ({**group, "change": OPPOSITE[group["change"]]} for group in diff.get("groups") or ())
    entries = map(_back, diff["entries"])
    return {**diff, **numbers, "bytes_freed": 0, "groups": _by_risk(groups), "entries": _by_risk(entries)}


def _by_risk(changes: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(changes, key=lambda each: SIGNED.index(each["change"]))


def _back(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Reverse one change: delete a created or copied entry, move a moved one back."""
    reverted = {**entry, "change": OPPOSITE[entry["change"]], "back": True}
    return reverted | (
        {"path": entry["source"], "source": entry["path"]} if entry["change"] == "moved" else {"source": None}
    )


def _counted(what: str, number: int) -> str:
    one, many = phrases.DIFF[what]
    return texts.count(number, one, many)


STYLES = {"deleted": "red", "overwritten": "red", "changed": "yellow", "moved": "cyan", "created": "green"}
SIGNED = tuple(STYLES)
OPPOSITE = {change: change for change in SIGNED} | {"created": "deleted", "deleted": "created"}
RISKY = frozenset({"deleted", "overwritten", "changed"})
PREVIEW_STYLES = {"+": "green", "-": "red"}
