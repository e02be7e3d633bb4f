"""A session's events as readable lines: number, time, event."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from services.cli import words
from services.cli.streams import SessionEvent

MOST = 160
SUMMARY = ("text", "summary", "detail", "reason", "question", "title", "error", "name", "label")
"""The most informative fields of an event without a line format of its own."""


def line(event: SessionEvent) -> str:
    """Format an event as one line."""
    return f"{event.seq:5}  {event.time[11:19]}  {_describe(event.type, event.data)}".rstrip()


def _describe(kind: str, data: Mapping[str, Any]) -> str:
    match kind:
        case "message.accepted" | "turn.started":
            return _with("You said" if kind == "message.accepted" else "Started", data.get("text"))
        case "turn.analysed":
            return f"Understood as {data['intent']}"
        case "turn.ended":
            return _with(f"Turn {data['state']}", data.get("detail") or data.get("reason"))
        case "plan.proposed":
            steps = [step["description"].rstrip(".") for step in data["plan"]["steps"]]
            return _with(f"Plan of {words.count(len(steps), 'step')}", "; ".join(steps))
        case "step.changed":
            state = str(data["state"]).replace("_", " ")
            return _with(f"Step {data['ordinal']} {state}", data.get("error") or data.get("summary") or data["tool"])
        case "approval.requested":
            return _with("Asked", data["title"])
        case "approval.closed":
            return _with(f"Answered: {str(data['outcome']).replace('_', ' ')}", data.get("reason"))
        case "clarification.requested":
            return _with("Asked", data["question"])
        case "clarification.replied":
            return _with("Reply", data["text"])
        case "message.completed":
            return _with("Answer", data["text"])
        case "workspace.changed":
            return _with(f"Files {data['change']}", words.count(data["operations"], "change"))
        case _:
            return _with(kind.replace(".", " ").replace("_", " ").capitalize(), _summary(data))


def _summary(data: Mapping[str, Any]) -> object:
    main = next((data[name] for name in SUMMARY if isinstance(data.get(name), str) and data[name]), None)
    rest = {name: value for name, value in data.items() if name != "turn_id" and not name.endswith("_id")}
    return main if main is not None else json.dumps(rest, ensure_ascii=False) if rest else ""


def _with(what: str, more: object) -> str:
    return words.line(f"{what}: {' '.join(str(more).split())}" if more else what, MOST)
