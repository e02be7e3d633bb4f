"""The part of a conversation that a model sees, cut to fit an event."""

from __future__ import annotations

from collections.abc import Sequence

from libs.events import AgentRole, Attached, Body, Exchange, Json, KnownFact, Observation, Passage, StepState, Task
from services.conversation_worker.domain import event_sizes
from services.conversation_worker.settings import Settings
from services.conversation_worker.turn.state import COMMIT, HISTORY_MOST, Conversation, StepRun


def task_of(
    conversation: Conversation,
    settings: Settings,
    *,
    tools: tuple[str, ...],
    agent: AgentRole | None,
    memories: tuple[str, ...] = (),
    passages: tuple[Passage, ...] = (),
    known: tuple[KnownFact, ...] = (),
    facts: dict[str, object] | None = None,
) -> Task:
    """Return all that a model may know of this turn (S0-10)."""
    turn = conversation.turn
    if turn is None:
        raise LookupError("no turn is under way")
    written = [turn.message.text, turn.clarification, *turn.replies, agent.prompt if agent else ""]
    return Task(
        text=turn.message.text,
        intent=turn.intent,
        skill=turn.skill,
        clarification=turn.clarification,
        replies=turn.replies,
        history=event_sizes.history(conversation.session.history),
        observations=event_sizes.observed(observations(conversation)),
        memories=event_sizes.fitting(memories, event_sizes.MEMORY_BYTES),
        passages=event_sizes.passages(passages),
        facts=event_sizes.known(known),
        root=conversation.session.root,
        workspace=event_sizes.facts(facts or {}, event_sizes.size(written)),
        read=event_sizes.read(
            # What was read before files changed may no longer be so.
            {path: epoch for path, epoch in conversation.session.read.items() if epoch == conversation.session.epoch}
        ),
        attachments=tuple(map(Attached.of, conversation.attachments)),
        tools=tools,
        agent=agent,
        call=turn.message.call,
        calls_most=settings.limits.calls,
    )


SEEN_MOST = 16 * 1024
"""Bytes of one step's data that a model sees; of more, the summary, and an excerpt if the tool gave one."""


def observations(conversation: Conversation) -> tuple[Observation, ...]:
    """Return the results of the turn's steps, and the outcome of its diff."""
    turn = conversation.turn
    partly = turn is not None and turn.commit_result is not None and turn.commit_result.left_out > 0
    seen = tuple(_observation(run, partly=partly) for run in conversation.steps)
    if turn is None or turn.decided is None:
        return seen
    last = Observation(
        ordinal=len(seen) + 1,
        tool=COMMIT,
        description=turn.decided,
        state=StepState.SUCCEEDED,
        summary=turn.decided,
        data=turn.commit_result.model_dump(mode="json") if turn.commit_result is not None else None,
    )
    return (*seen, last)


PARTLY = "Only a part of this was committed; the commit has the figures."


def _observation(run: StepRun, *, partly: bool) -> Observation:
    staged = run.snapshot is not None
    # What a step staged is not what was done, once a person has left some of it out.
    untrue = partly and staged and run.state is StepState.SUCCEEDED
    return Observation(
        ordinal=run.step.ordinal,
        tool=run.step.tool,
        description=run.step.description,
        state=run.state,
        summary=PARTLY if untrue else run.summary,
        data=None if untrue else _seen(run.data),
        excerpt=None if untrue else _excerpt(run.data),
        left_alone=_left_alone(run.data),
        error=run.error,
        staged=staged,
    )


def _seen(body: Body | None) -> object:
    return body.json_ if body is not None and body.sha256 is None and body.size <= SEEN_MOST else None


def _excerpt(body: Body | None) -> Json:
    """Return the shorter form of data that is not seen, if its tool gave one."""
    if body is None or body.sha256 is not None:
        return body.excerpt if body is not None else None
    return body.json_.get("excerpt") if body.size > SEEN_MOST and isinstance(body.json_, dict) else None


def _left_alone(body: Body | None) -> dict[str, Json] | None:
    """Return what a step left alone, also where its data is too large to be seen."""
    if body is None or body.sha256 is not None:
        return body.left_alone if body is not None else None
    return body.json_.get("left_alone") if isinstance(body.json_, dict) else None


def remembered(history: Sequence[Exchange], last: Exchange, *, talked: bool) -> tuple[Exchange, ...]:
    """Return the history with the last exchange. "Those" are the files of the last turn that ran steps."""
    kept = [each if talked or not each.shown else each.model_copy(update={"shown": ()}) for each in history]
    return (*kept, last)[-HISTORY_MOST:]
