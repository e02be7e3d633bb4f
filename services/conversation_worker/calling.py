"""One call of a tool: what policy says of it, the request, and the grant that permits exactly this request."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import orjson

from libs.errors import Rejected
from libs.events import ToolRequested
from libs.events.values import Args, StepState
from libs.guards import paths
from libs.guards.allowlist import as_policy_reads
from libs.identity import grants
from libs.objects import bodies
from libs.policy.ports import Decision
from libs.skills import ToolDefinition
from services.conversation_worker.domain import binding, bounds, references
from services.conversation_worker.domain.talk import Doing, Letter
from services.conversation_worker.office import Office
from services.conversation_worker.scene import Scene

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
        args_digest=binding.of_call(tool.name, args),
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


def request(
    office: Office,
    scene: Scene,
    *,
    call_id: str,
    step_id: str,
    tool: str,
    args: Args,
    approval_id: str | None = None,
    letter: Letter | None = None,
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
        plan=binding.digest(plan.model_dump(mode="json") if plan else None),
        verdict="committee" if scene.turn.committee else "exempt",
        revision=revision,
        expires=office.now() + timedelta(seconds=office.settings.grant_seconds),
    )
    return request.model_copy(update={"grant": grants.issue(office.platform.keys, claims)})


async def resolved(office: Office, scene: Scene, doing: Doing) -> Args:
    """The step's args with references replaced; what has become large travels as a blob's handle.

    Raises:
        DependencyUnavailable: what a reference names is not there.
    """
    wanted = references.needs(doing.step)
    results: dict[int, Mapping[str, Any]] = {}
    for other in scene.talk.current():
        if other.step.ordinal in wanted and other.state is StepState.SUCCEEDED and other.data is not None:
            value = await bodies.load(office.platform.objects, scene.cause.tenant, other.data)
            results[other.step.ordinal] = value if isinstance(value, Mapping) else {}
    return await packed(office, scene.cause.tenant, references.resolve(doing.step.args, results))


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
    return bounds.size(args) > 4 * ARG_MOST


def _in_scope(scene: Scene, tool: ToolDefinition, args: Args) -> bool:
    """Do all paths lie inside the workspace, as text? The executor asks the file system itself."""
    try:
        paths.check_paths(scene.session.root or "/workspace", tool.params, args)
    except Rejected:
        return False
    return True
