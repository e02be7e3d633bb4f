"""The output of a response: messages, calls of Suma's tools, and requests for approval, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import orjson

from libs.events import (
    ApprovalRequested,
    ClarificationRequested,
    MessageCompleted,
    StepChanged,
    StepState,
    TurnEnded,
    Usage,
)
from services.gateway.multimodal.jobs import in_words, linked
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.viewer import Heartbeat, TextDelta
from services.gateway.surfaces import questions, segments
from services.gateway.surfaces.questions import Asked
from services.gateway.surfaces.segments import Json, Segment, Text
from services.gateway.surfaces.turn_view import TurnView, fold

ANSWER, ASKS, CALLED = "msg_", "mcpr_", "mcp_"
SERVER = "suma"
DONE = {
    StepState.SUCCEEDED: "completed",
    StepState.FAILED: "failed",
    StepState.DENIED: "failed",
    StepState.UNKNOWN: "failed",
    StepState.CANCELLED: "incomplete",
}
"""The status of a call whose step has ended, by the step's state. A step without a state here has no call."""
HIDDEN = ("turn_id", "approval_id", "step_id", "expires_in")
"""Members of a question that are no part of what a person decides on."""


class Output:
    """The items of a segment, and the events that report them to a stream. `base` is our address."""

    def __init__(self, segment: Segment, base: str) -> None:
        self._segment, self._base = segment, base
        self.items: list[Json] = []
        self.view = TurnView(seq=segment.after)
        self.status = "in_progress"
        self.error: Json | None = None
        self.usage: Json | None = None
        self._text = Text()
        self._message: int | None = None
        self._calls: dict[str, int] = {}

    def absorb(self, item: Numbered | TextDelta | Heartbeat) -> None:
        """Take what happened, without a stream to report it to."""
        for _ in self.take(item):
            pass

    def recall(self, earlier: Sequence[Numbered]) -> None:
        """Take the plan from what happened in the turn before, and what the turn made."""
        before = TurnView.of(earlier)
        self.view = replace(self.view, plan=before.plan, made=before.made)

    def take(self, item: Numbered | TextDelta | Heartbeat) -> Iterator[Json]:
        """Take what happened; yield the events of the stream."""
        if isinstance(item, Numbered):
            self.view = fold(self.view, item)
        match item:
            case TextDelta():
                yield from self._say(self._text.piece(item))
            case Numbered(event=MessageCompleted(text=text, usage=usage)):
                # With links the text is not that of the kept answer any more, so its turn is named.
                mark = questions.mark(self._segment.turn_id)
                whole = linked(text, self.view.made.values(), self._base, mark=mark)
                yield from self._say(self._text.rest(whole))
                yield from self._said(whole)
                self.usage = _usage(usage)
            case Numbered(event=StepChanged() as step):
                yield from self._step(step)
            case Numbered(event=TurnEnded() as ended):
                yield from self._ended(ended)
            case Numbered(event=ApprovalRequested() | ClarificationRequested() as asked):
                yield from self._ask(item, asked)

    def _step(self, step: StepChanged) -> Iterator[Json]:
        """Report a call that starts or ends."""
        id, status = step.step_id, DONE.get(step.state)
        if id not in self._calls and (step.state is StepState.RUNNING or status is not None):
            self._calls[id] = len(self.items)
            yield from self._added(_call(step, self.view.args(id), "in_progress"))
        if id in self._calls and status is not None:
            at = self._calls[id]
            self.items[at] = _call(step, self.view.args(id), status)
            kind = "completed" if status == "completed" else "failed"
            yield {"type": f"response.mcp_call.{kind}", "item_id": self.items[at]["id"], "output_index": at}
            yield self._done(at)

    def _ask(self, item: Numbered, asked: Asked) -> Iterator[Json]:
        self.status = "completed"
        if isinstance(asked, ClarificationRequested):
            text = questions.text_of(asked)
            yield from self._say(text)
            yield from self._said(text)
            return
        shown = {name: value for name, value in item.data.items() if name not in HIDDEN}
        request = {
            "id": ASKS + questions.name_of(item),
            "type": "mcp_approval_request",
            "server_label": SERVER,
            "name": asked.tool or asked.kind,
            "arguments": orjson.dumps(shown).decode(),
        }
        yield from self._added(request)
        yield self._done(len(self.items) - 1)

    def _ended(self, ended: TurnEnded) -> Iterator[Json]:
        self.usage = self.usage or _usage(Usage())
        match ended.state:
            case "failed":
                self.status = "failed"
                self.error = {"code": "server_error", "message": segments.end_text(ended)}
            case "cancelled":
                self.status = "cancelled"
            case "refused":
                self.status = "completed"
                yield from self._refused(segments.end_text(ended))
            case _:
                self.status = "completed"

    def _refused(self, why: str) -> Iterator[Json]:
        part = {"type": "refusal", "refusal": why}
        yield from self._added({**self._answer(), "content": [part], "status": "completed"})
        yield self._done(len(self.items) - 1)

    def _say(self, text: str) -> Iterator[Json]:
        """Add text to the message, and the message if it is the first."""
        if not text:
            return
        if self._message is None:
            self._message = len(self.items)
            yield from self._added(self._answer())
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            self.items[self._message]["content"].append(part)
            yield {"type": "response.content_part.added", **self._place, "part": dict(part)}
        self.items[self._message]["content"][0]["text"] += text
        yield {"type": "response.output_text.delta", **self._place, "delta": text, "logprobs": []}

    def _said(self, whole: str) -> Iterator[Json]:
        """Complete the message: its whole text replaces what was sent."""
        if self._message is None:
            return
        item = self.items[self._message]
        item["status"], item["content"][0]["text"] = "completed", whole
        yield {"type": "response.output_text.done", **self._place, "text": whole, "logprobs": []}
        yield {"type": "response.content_part.done", **self._place, "part": item["content"][0]}
        yield self._done(self._message)

    def _answer(self) -> Json:
        id = ANSWER + self._segment.name
        return {"id": id, "type": "message", "role": "assistant", "status": "in_progress", "content": []}

    @property
    def _place(self) -> Json:
        assert self._message is not None
        return {"item_id": ANSWER + self._segment.name, "output_index": self._message, "content_index": 0}

    def _added(self, item: Json) -> Iterator[Json]:
        self.items.append(item)
        shown = {**item, "content": []} if "content" in item else item
        yield {"type": "response.output_item.added", "output_index": len(self.items) - 1, "item": shown}

    def _done(self, at: int) -> Json:
        return {"type": "response.output_item.done", "output_index": at, "item": self.items[at]}


def _call(step: StepChanged, args: Json, status: str) -> Json:
    error = {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": step.error or step.state}]}
    return {
        "id": CALLED + step.step_id,
        "type": "mcp_call",
        "server_label": SERVER,
        "name": step.tool,
        "arguments": orjson.dumps(args).decode(),
        "output": in_words(step) or None,
        "error": error if status == "failed" else None,
        "status": status,
    }


def _usage(used: Usage) -> Json:
    sent, made = used.input_tokens, used.output_tokens
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sent + made,
    }
