"""Calls of tools: resolve the args, ask policy, and send the request with a grant for exactly this request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson

from libs import ids
from libs.errors import NotFound, Rejected
from libs.events import ActionRecorded, Args, Plan, StepState, ToolRequested
from libs.guards import as_policy_reads, paths
from libs.identity import grants
from libs.objects import bodies
from libs.policy import Decision
from libs.search.words import words
from libs.skills import ATTACHMENTS, Primitive, ToolDefinition
from services.conversation_worker.domain import digests, event_sizes, step_references
from services.conversation_worker.turn.context import TurnContext, recorded, verdict_of
from services.conversation_worker.turn.state import QueuedMessage, StepRun
from services.conversation_worker.turn.transitions import Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

ARG_MOST = 16 * 1024
"""Bytes of JSON up to which one argument travels inside its event; a larger one is a blob's handle."""
COMMIT_SECONDS = 1800.0
"""How long a commit or a rollback may take."""


async def ask_policy(
    context: TurnContext, uow: UnitOfWork, tool: ToolDefinition, args: Args, *, approved: bool
) -> Decision:
    """Return policy's decision on this call, for the author of the turn's message. Raises Unavailable."""
    return await context.decide(
        "tool.execute",
        uow,
        uow.turn.message,
        tool=tool.name,
        effect_class=tool.effect_class.value,
        mutates=tool.mutates,
        leaves_machine=tool.leaves_machine,
        args_digest=digests.of_call(tool.name, args),
        skill=tool.skill,
        epoch=uow.session.epoch,
        allowed_tools=as_policy_reads(context.tools_of(uow.turn.message), tool.name),
        touched=uow.session.touched.facts,
        destination=tool.destination_of(args),
        paths_in_scope=_in_scope(uow, tool, args),
        approved=approved,
        payload_seen=approved,
        hitl=uow.turn.message.hitl.value,
    )


def build_request(
    context: TurnContext,
    uow: UnitOfWork,
    *,
    call_id: str,
    step_id: str,
    tool: str,
    args: Args,
    approval_id: str | None = None,
    message: QueuedMessage | None = None,
) -> ToolRequested:
    """Return a request without its grant."""
    asker = message or uow.turn.message
    seconds = COMMIT_SECONDS if tool.startswith("workspace.") else context.settings.call_seconds
    return ToolRequested(
        call_id=call_id,
        turn_id=uow.turn.turn_id,
        plan_id=uow.turn.plan.plan_id if uow.turn.plan else "",
        step_id=step_id,
        ordinal=0,
        tool=tool,
        args=args,
        root=uow.session.root,
        epoch=uow.session.epoch,
        deadline=seconds,
        principal=asker.principal,
        scopes=asker.scopes,
        hitl=asker.hitl,
        allowed=context.tools_of(asker),
        approval_id=approval_id,
        unstaged=not uow.turn.dirty,
        touched=uow.session.touched,
        grant="",
    )


def with_grant(context: TurnContext, uow: UnitOfWork, request: ToolRequested, *, revision: str) -> ToolRequested:
    """Return the request with the grant that the executor will verify (architecture.md 9)."""
    plan = uow.turn.plan
    claims = grants.GrantClaims(
        request=grants.digest_of(request),
        tenant=uow.cause.tenant,
        session=uow.session.session_id,
        plan=digests.digest(plan.model_dump(mode="json") if plan else None),
        verdict="committee" if uow.turn.committee else "exempt",
        revision=revision,
        expires=context.now() + timedelta(seconds=context.settings.grant_seconds),
    )
    return request.model_copy(update={"grant": grants.issue(context.platform.keys, claims)})


async def resolve_args(context: TurnContext, uow: UnitOfWork, run: StepRun) -> Args:
    """Return the step's args with references replaced; a large value travels as a blob's handle.

    Raises:
        DependencyUnavailable: what a reference names is not there.
    """
    requested = step_references.needs(run.step)
    results: dict[int, Mapping[str, Any]] = {}
    for other in uow.conversation.current():
        if other.step.ordinal in requested and other.state is StepState.SUCCEEDED and other.data is not None:
            value = await bodies.load(context.platform.objects, uow.cause.tenant, other.data)
            results[other.step.ordinal] = value if isinstance(value, Mapping) else {}
    return await pack_args(context, uow.cause.tenant, step_references.resolve(run.step.args, results))


async def pack_args(context: TurnContext, tenant: str, args: Args) -> Args:
    """Store each large arg as a blob, and return the args with handles."""
    small: Args = {}
    for name, value in args.items():
        raw = orjson.dumps(value)
        # A handle stays as it is: packing it again would make a blob of the handle.
        if len(raw) <= ARG_MOST or is_handle(value):
            small[name] = value
        else:
            blob = await context.platform.objects.put(tenant, raw)
            small[name] = {"$blob": blob.sha256, "size": blob.size}
    return small


async def unpack_args(context: TurnContext, tenant: str, args: Args) -> Args:
    """Return the args in full."""
    return {
        name: orjson.loads(await context.platform.objects.get(tenant, str(value["$blob"])))
        if is_handle(value)
        else value
        for name, value in args.items()
    }


def is_handle(value: Any) -> bool:
    return isinstance(value, Mapping) and "$blob" in value


def is_too_large(args: Args) -> bool:
    """Return whether the args exceed an event even with handles."""
    return event_sizes.size(args) > 4 * ARG_MOST


def _in_scope(uow: UnitOfWork, tool: ToolDefinition, args: Args) -> bool:
    """Return whether all paths are inside the workspace, as text. The executor checks the file system itself."""
    try:
        paths.check_paths(uow.session.root or "/workspace", tool.params, args)
    except Rejected:
        return False
    return True


class ToolChanged(Rejected):
    """The tool has changed since this was planned."""

    code = "TOOL_CHANGED"


@dataclass(frozen=True, slots=True)
class Ready:
    """A step that can be called: its tool, and its resolved args."""

    tool: ToolDefinition
    args: Args


async def prepare(context: TurnContext, uow: UnitOfWork, run: StepRun) -> Ready | None:
    """Return the step's tool and args; None if it can never be called, and then the step has the reason."""
    try:
        tool = context.tool(run.step.tool)
        edited = run.args if run.edited else None
        # An approval is of a tool as it was shown; a changed one needs a plan and a question of its own.
        if run.step.tool_digest not in (None, tool.digest):
            raise ToolChanged(f"{tool.name} has changed since this was planned; ask again to have it planned anew")
        args = edited if edited is not None else await resolve_args(context, uow, run)
        if tool.method == ATTACHMENTS and uow.conversation.attachments:
            # A person approves these files, not whichever there are.
            args = {"names": [file.filename for file in uow.conversation.attachments], **args}
    except step_references.DependencyUnavailable as error:
        uow.update_step(run, state=StepState.SKIPPED, error=error.code)
        return None
    except (NotFound, ToolChanged) as error:
        fail_step(uow, run, StepState.FAILED, str(error))
        return None
    if is_too_large(args):
        fail_step(uow, run, StepState.FAILED, "the args are too large")
        return None
    return Ready(tool, args)


def send_call(
    context: TurnContext,
    uow: UnitOfWork,
    run: StepRun,
    ready: Ready,
    decision: Decision,
    approval_id: str | None = None,
) -> None:
    """Send the call, with a grant for exactly this call."""
    # From the input's id: decided again after a conflict, it is the same call.
    call_id, tool, args = ids.derived(uow.cause.id, "call", run.step_id), ready.tool.name, ready.args
    request = build_request(
        context, uow, call_id=call_id, step_id=run.step_id, tool=tool, args=args, approval_id=approval_id
    ).model_copy(update={"ordinal": run.step.ordinal, "skill": run.step.skill, "plan_id": run.plan_id})
    # All of it before the grant, which signs everything but hints.
    files = uow.conversation.attachments if ready.tool.method == ATTACHMENTS else ()
    request = request.model_copy(update={"tool_digest": ready.tool.digest, "attachments": files})
    request = request.model_copy(update={"listed": step_references.listed(run.step.args)})
    if ready.tool.primitive is Primitive.MEMORY:
        request = request.model_copy(update={"own_words": _own_words(uow, args)})
    uow.update_turn(calls=uow.turn.calls + 1, last_call=digests.of_call(tool, args), revision=decision.revision)
    uow.update_step(run, state=StepState.RUNNING, call_id=call_id, args=args, started=context.now().timestamp())
    uow.emit(with_grant(context, uow, request, revision=decision.revision))


async def decide_call(context: TurnContext, uow: UnitOfWork, run: StepRun, ready: Ready, *, approved: bool) -> Decision:
    """Return policy's decision on this attempt, and record it."""
    decision = await ask_policy(context, uow, ready.tool, ready.args, approved=approved)
    uow.emit(_decision_record(uow, run, decision))
    return decision


def _own_words(uow: UnitOfWork, args: Args) -> bool:
    """Return whether the person wrote every word of what is to be remembered; a key is the model's to choose."""
    turn = uow.turn
    written = words(" ".join((turn.message.text, turn.clarification or "", *turn.replies)))
    return {*words(f"{args.get('text', '')} {args.get('subject', '')} {args.get('value', '')}")} <= {*written, "me"}


def with_verdict(run: StepRun, decision: Decision) -> StepRun:
    """Return the step with policy's verdict on it, which viewers see beside its next state."""
    return run.model_copy(update={"verdict": verdict_of(decision), "rule": decision.rule})


def fail_step(uow: UnitOfWork, run: StepRun, state: StepState, error: str) -> None:
    uow.update_turn(errors=uow.turn.errors + 1)
    uow.update_step(run, state=state, error=error)


def _decision_record(uow: UnitOfWork, run: StepRun, decision: Decision) -> ActionRecorded:
    return recorded(decision, uow.turn.message, resource=run.step.tool, turn_id=uow.turn.turn_id, step_id=run.step_id)


def plan_of(uow: UnitOfWork) -> Plan:
    if uow.turn.plan is None:
        raise LookupError("the turn has no plan")
    return uow.turn.plan


def send_workspace_call(
    context: TurnContext,
    uow: UnitOfWork,
    tool: str,
    args: Args,
    input: Input,
    *,
    revision: str,
    approval_id: str | None = None,
    message: QueuedMessage | None = None,
) -> None:
    """Send the request of a workspace tool; the turn itself waits for its result."""
    call_id = ids.derived(uow.cause.id, tool)
    uow.take(input, message.turn_id if message is not None else "")
    uow.update_turn(working=call_id)
    request = build_request(
        context, uow, call_id=call_id, step_id=call_id, tool=tool, args=args, approval_id=approval_id, message=message
    )
    uow.emit(with_grant(context, uow, request, revision=revision))
