"""One call of a tool: what policy says of it, the request, and the grant that permits exactly this request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson

from libs import ids
from libs.errors import NotFound, Rejected
from libs.events import ActionRecorded, ToolRequested
from libs.events.values import Args, Plan, StepState
from libs.guards import paths
from libs.guards.allowlist import as_policy_reads
from libs.identity import grants
from libs.objects import bodies
from libs.policy.ports import Decision
from libs.skills import ToolDefinition
from services.conversation_worker.domain import digests, event_sizes, step_references
from services.conversation_worker.turn.context import Office, recorded
from services.conversation_worker.turn.state import QueuedMessage, StepRun, TurnState
from services.conversation_worker.turn.unit_of_work import Scene

ARG_MOST = 16 * 1024
"""Bytes of JSON up to which one argument travels inside its event; a larger one is a blob's handle."""


async def police(office: Office, scene: Scene, tool: ToolDefinition, args: Args, *, approved: bool) -> Decision:
    """What policy says of this call, on behalf of whoever wrote the turn's message. Raises Unavailable."""
    return await office.decide(
        "tool.execute",
        scene,
        scene.turn.letter,
        tool=tool.name,
        effect_class=tool.effect_class.value,
        mutates=tool.mutates,
        leaves_machine=tool.leaves_machine,
        args_digest=digests.of_call(tool.name, args),
        skill=tool.skill,
        epoch=scene.session.epoch,
        allowed_tools=as_policy_reads(office.settings.tools, tool.name),
        touched={"private": True, "untrusted": True, "secret": False},
        destination=None,
        paths_in_scope=_in_scope(scene, tool, args),
        approved=approved,
        payload_seen=approved,
        hitl=scene.turn.letter.hitl.value,
    )


def build_request(
    office: Office,
    scene: Scene,
    *,
    call_id: str,
    step_id: str,
    tool: str,
    args: Args,
    approval_id: str | None = None,
    letter: QueuedMessage | None = None,
) -> ToolRequested:
    """A request without its grant."""
    asker = letter or scene.turn.letter
    seconds = office.settings.commit_seconds if tool.startswith("workspace.") else office.settings.call_seconds
    return ToolRequested(
        call_id=call_id,
        turn_id=scene.turn.turn_id,
        plan_id=scene.turn.plan.plan_id if scene.turn.plan else "",
        step_id=step_id,
        ordinal=0,
        tool=tool,
        args=args,
        root=scene.session.root,
        epoch=scene.session.epoch,
        deadline=seconds,
        principal=asker.principal,
        scopes=asker.scopes,
        hitl=asker.hitl,
        allowed=office.settings.tools,
        approval_id=approval_id,
        grant="",
    )


def granted(office: Office, scene: Scene, request: ToolRequested, *, revision: str) -> ToolRequested:
    """The request with the grant that the executor will verify (DESIGN §8)."""
    plan = scene.turn.plan
    claims = grants.GrantClaims(
        request=grants.digest_of(request),
        tenant=scene.cause.tenant,
        session=scene.session.session_id,
        plan=digests.digest(plan.model_dump(mode="json") if plan else None),
        verdict="committee" if scene.turn.committee else "exempt",
        revision=revision,
        expires=office.now() + timedelta(seconds=office.settings.grant_seconds),
    )
    return request.model_copy(update={"grant": grants.issue(office.platform.keys, claims)})


async def resolved(office: Office, scene: Scene, doing: StepRun) -> Args:
    """The step's args with references replaced; what has become large travels as a blob's handle.

    Raises:
        DependencyUnavailable: what a reference names is not there.
    """
    wanted = step_references.needs(doing.step)
    results: dict[int, Mapping[str, Any]] = {}
    for other in scene.talk.current():
        if other.step.ordinal in wanted and other.state is StepState.SUCCEEDED and other.data is not None:
            value = await bodies.load(office.platform.objects, scene.cause.tenant, other.data)
            results[other.step.ordinal] = value if isinstance(value, Mapping) else {}
    return await packed(office, scene.cause.tenant, step_references.resolve(doing.step.args, results))


async def packed(office: Office, tenant: str, args: Args) -> Args:
    """The args with each large one in the object store."""
    small: Args = {}
    for name, value in args.items():
        raw = orjson.dumps(value)
        if len(raw) <= ARG_MOST or is_handle(value):
            small[name] = value
        else:
            blob = await office.platform.objects.put(tenant, raw)
            small[name] = {"$blob": blob.sha256, "size": blob.size}
    return small


async def unpacked(office: Office, tenant: str, args: Args) -> Args:
    """The args in full."""
    return {
        name: orjson.loads(await office.platform.objects.get(tenant, str(value["$blob"])))
        if is_handle(value)
        else value
        for name, value in args.items()
    }


def is_handle(value: Any) -> bool:
    return isinstance(value, Mapping) and "$blob" in value


def too_large(args: Args) -> bool:
    """Do the args, even with their handles, not fit into an event?"""
    return event_sizes.size(args) > 4 * ARG_MOST


def _in_scope(scene: Scene, tool: ToolDefinition, args: Args) -> bool:
    """Do all paths lie inside the workspace, as text? The executor asks the file system itself."""
    try:
        paths.check_paths(scene.session.root or "/workspace", tool.params, args)
    except Rejected:
        return False
    return True


class ToolChanged(Rejected):
    """The tool is not the one that this was planned with."""

    code = "TOOL_CHANGED"


@dataclass(frozen=True, slots=True)
class Ready:
    """A step that could be called: its tool, and its args as resolved."""

    tool: ToolDefinition
    args: Args


async def prepare(office: Office, scene: Scene, doing: StepRun) -> Ready | None:
    """The step's tool and args; None when it can never be called, and the step says why."""
    try:
        tool = office.tool(doing.step.tool)
        edited = doing.args if doing.edited else None
        if doing.step.tool_digest not in (None, tool.digest):
            raise ToolChanged(f"{tool.name} has changed since this was planned; ask again to have it planned anew")
        args = edited if edited is not None else await resolved(office, scene, doing)
    except step_references.DependencyUnavailable as error:
        scene.set_step(doing, state=StepState.SKIPPED, error=error.code)
        return None
    except (NotFound, ToolChanged) as error:
        fail_step(scene, doing, StepState.FAILED, str(error))
        return None
    if too_large(args):
        fail_step(scene, doing, StepState.FAILED, "the args are too large")
        return None
    return Ready(tool, args)


def run(
    office: Office, scene: Scene, doing: StepRun, ready: Ready, decision: Decision, approval_id: str | None = None
) -> None:
    """Send the call, with a grant for exactly this."""
    call_id, tool, args = ids.derived(scene.cause.id, "call", doing.step_id), ready.tool.name, ready.args
    request = build_request(
        office, scene, call_id=call_id, step_id=doing.step_id, tool=tool, args=args, approval_id=approval_id
    ).model_copy(update={"ordinal": doing.step.ordinal, "skill": doing.step.skill, "plan_id": doing.plan_id})
    request = request.model_copy(update={"tool_digest": ready.tool.digest})
    scene.set_turn(calls=scene.turn.calls + 1, last_call=digests.of_call(tool, args), revision=decision.revision)
    scene.set_step(doing, state=StepState.RUNNING, call_id=call_id, args=args, started=office.now().timestamp())
    scene.say(granted(office, scene, request, revision=decision.revision))


async def policed(office: Office, scene: Scene, doing: StepRun, ready: Ready, *, approved: bool) -> Decision:
    """Policy's word on this attempt, recorded with what it leads to."""
    decision = await police(office, scene, ready.tool, ready.args, approved=approved)
    scene.say(_about(scene, doing, decision))
    return decision


def fail_step(scene: Scene, doing: StepRun, state: StepState, error: str) -> None:
    scene.set_turn(errors=scene.turn.errors + 1)
    scene.set_step(doing, state=state, error=error)


def _about(scene: Scene, doing: StepRun, decision: Decision) -> ActionRecorded:
    return recorded(
        decision, scene.turn.letter, resource=doing.step.tool, turn_id=scene.turn.turn_id, step_id=doing.step_id
    )


def plan_of(scene: Scene) -> Plan:
    if scene.turn.plan is None:
        raise LookupError("the turn has no plan")
    return scene.turn.plan


def send(
    office: Office,
    scene: Scene,
    tool: str,
    args: Args,
    state: TurnState,
    *,
    revision: str,
    approval_id: str | None = None,
    letter: QueuedMessage | None = None,
) -> None:
    """The request of a workspace tool, for whose answer the turn itself waits."""
    call_id = ids.derived(scene.cause.id, tool)
    scene.move(state)
    scene.set_turn(working=call_id)
    request = build_request(
        office, scene, call_id=call_id, step_id=call_id, tool=tool, args=args, approval_id=approval_id, letter=letter
    )
    scene.say(granted(office, scene, request, revision=revision))
