"""The chain of links that a call must pass, each closed unless it opens (architecture.md 9). The first refusal decides.

It rests on no model and no promise: the request came over a bus that anyone may have written to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from libs.changes import Cause
from libs.errors import Denied, Rejected
from libs.events import ActionRecorded, EffectClass, ToolRequested
from libs.guards import UrlRefused, allows, as_policy_reads, commands, paths
from libs.hooks import Action, Point, shown_args
from libs.identity import grants
from libs.multimodal.ports import StepType
from libs.objects import Objects
from libs.policy import Decision
from libs.runtime import Platform
from libs.skills import Primitive, Risk, ToolDefinition
from libs.tools import Tool
from services.tool_executor import remembering
from services.tool_executor.fetching import FETCH, target_of
from services.tool_executor.settings import Web
from services.tool_executor.tools.primitives import PRIMITIVES
from services.tool_executor.tools.workspace_tools import WORKSPACE_TOOLS
from services.tool_executor.workspaces import Workspaces

CONTENT_SEARCH, RUN_COMMAND = "content_search", "run"
MULTIMODAL_FLAG = "SA01_ENABLE_multimodal_capabilities"
Outside = Callable[[str], Tool | None]
"""Return the external tool of a name; None if it is not here."""


class LinkRefused(Denied):
    """A link of the chain says no."""

    code = "CHAIN_REFUSED"

    def __init__(self, link: str, reason: str, records: tuple[ActionRecorded, ...] = ()) -> None:
        super().__init__(reason)
        self.link, self.reason, self.records = link, reason, records


class NotAsPlanned(LinkRefused):
    """The tool differs from the granted one, or is not installed here."""

    code = "TOOL_CHANGED"


@dataclass(frozen=True)
class Passed:
    """A call that may run: its args in full, policy's decision, and the records of its gates' verdicts."""

    args: dict[str, Any]
    tool: ToolDefinition | None
    decision: Decision
    gates: tuple[ActionRecorded, ...] = ()


class Chain:
    def __init__(self, platform: Platform, workspaces: Workspaces, outside: Outside, web: Web) -> None:
        self._platform, self._workspaces, self._outside, self._web = platform, workspaces, outside, web

    async def check(self, cause: Cause, request: ToolRequested, now: datetime) -> Passed:
        """Check every link in turn.

        Raises:
            LinkRefused: nothing may run.
            Unavailable: policy, a gate or the object store does not answer; nothing may run yet.
        """
        # First: nothing else of a request is trusted, and nothing is fetched for it, before its grant is verified.
        self._grant(cause, request, now)
        args = await expanded(self._platform.objects, cause.tenant, request.args)
        # What came out of the object store is large: a hundred thousand paths are not checked on the event loop.
        about = cause.tenant, request, args
        large = any(isinstance(value, Mapping) and "$blob" in value for value in request.args.values())
        tool = await asyncio.to_thread(self._fixed, *about) if large else self._fixed(*about)
        host = tool.destination_of(args) if tool is not None else None
        # Policy late: it may cost a round trip, and must not be asked about what the other links refuse.
        decision = await self._policy(cause, request, tool, host)
        # Gates last: code from outside sees only what all else allows.
        return Passed(args, tool, decision, await self._gates(cause, request, tool, None if large else args, host))

    async def check_host(self, cause: Cause, request: ToolRequested, host: str) -> Decision:
        """Return policy's decision on a call that another host is to receive, since it was redirected there.

        Raises:
            LinkRefused: policy says no.
            Unavailable: it does not answer.
        """
        return await self._policy(cause, request, self._platform.skills.tool(request.tool), host)

    def _fixed(self, tenant: str, request: ToolRequested, args: Mapping[str, Any]) -> ToolDefinition | None:
        """Check the links that are deterministic."""
        tool = self._schema(request, args)
        self._allowlist(request)
        if tool is not None and not tool.open_to(tenant):
            raise LinkRefused("allowlist", f"this tenant may not use {tool.name}")
        if tool is None or tool.in_workspace or request.root is not None:
            self._guards(tool, args, self._scope(tenant, request, tool, args))
        else:
            self._guards(tool, args, None)
        if tool is not None and tool.primitive is Primitive.WEB:
            self._address(args)
        return tool

    def _grant(self, cause: Cause, request: ToolRequested, now: datetime) -> None:
        try:
            grants.verify(self._platform.keys, request, tenant=cause.tenant, session=cause.session or "", now=now)
        except Rejected as error:
            raise LinkRefused("grant", str(error)) from error

    def _schema(self, request: ToolRequested, args: Mapping[str, Any]) -> ToolDefinition | None:
        if request.tool in WORKSPACE_TOOLS:
            return None
        try:
            tool = self._platform.skills.tool(request.tool)
        except Rejected as error:
            # A planned tool that is unknown may be in a skill that this process has yet to read: worth a retry.
            raise (LinkRefused if request.tool_digest is None else NotAsPlanned)("schema", str(error)) from error
        # Before the args: those of another version would be refused for a reason that misleads.
        as_planned(tool, request)
        if not self._platform.skills.enabled(tool):
            raise LinkRefused("schema", f"{tool.name} is switched off; {MULTIMODAL_FLAG}=true switches it on")
        if not runnable(tool):
            raise LinkRefused("schema", f"{tool.name} calls {tool.method}, and there is no such primitive")
        if tool.from_outside and self._outside(tool.name) is None:
            raise LinkRefused("schema", f"{tool.name} is not plugged in here")
        result = tool.validate(args)
        if not result.valid:
            raise LinkRefused("schema", "; ".join((*result.missing, *result.extra, *result.problems)))
        return tool

    def _allowlist(self, request: ToolRequested) -> None:
        name = request.tool
        if name not in WORKSPACE_TOOLS and not allows(request.allowed, name):
            raise LinkRefused("allowlist", f"this agent may not use {name}")

    def _scope(self, tenant: str, request: ToolRequested, tool: ToolDefinition | None, args: Mapping[str, Any]) -> Path:
        try:
            root = self._workspaces.allowed(tenant, request.root)
            if tool is not None:
                paths.check_paths(str(root), tool.params, args)
        except Rejected as error:
            raise LinkRefused("scope", str(error)) from error
        return root

    def _guards(self, tool: ToolDefinition | None, args: Mapping[str, Any], root: Path | None) -> None:
        try:
            commands.check_call(tool, args, lambda text: root is not None and _exists(root, text))
        except Rejected as error:
            raise LinkRefused("guards", str(error)) from error

    def _address(self, args: Mapping[str, Any]) -> None:
        try:
            target_of(str(args["url"]), self._web)
        except UrlRefused as error:
            raise LinkRefused("guards", str(error)) from error

    async def _policy(
        self, cause: Cause, request: ToolRequested, tool: ToolDefinition | None, host: str | None
    ) -> Decision:
        facts: dict[str, Any] = {
            "tenant": cause.tenant,
            "principal": {"id": request.principal, "scopes": list(request.scopes)},
            "session": cause.session,
            "turn": request.turn_id,
            "approved": request.approval_id is not None,
            # The scope link has refused a folder of any other tenant.
            "root_tenant": cause.tenant if request.root is not None else None,
        }
        if tool is None:
            action = WORKSPACE_TOOLS[request.tool].action
            facts["approved"] = facts["approved"] or not WORKSPACE_TOOLS[request.tool].changes_files
        else:
            action = "tool.execute"
            facts |= self._facts(request, tool, host)
        decision = await self._platform.policy.decide(action, facts)
        # Approvals precede the grant: an obligation that is still open here was never met.
        if not decision.allowed or decision.obligations:
            owed = f"{', '.join(decision.obligations)} is owed" if decision.obligations else decision.reason
            raise LinkRefused("policy", owed)
        return decision

    async def _gates(
        self,
        cause: Cause,
        request: ToolRequested,
        tool: ToolDefinition | None,
        args: Mapping[str, Any] | None,
        host: str | None,
    ) -> tuple[ActionRecorded, ...]:
        if tool is None and not WORKSPACE_TOOLS[request.tool].changes_files:
            return ()
        action = Action(
            Point.TOOL_CALL,
            cause.tenant,
            cause.session or "",
            request.turn_id,
            request.principal,
            tools=(request.tool,),
            step=request.step_id,
            args=shown_args(args),
            args_digest=grants.digest_of(request),
            effect_class=tool.effect_class.value if tool is not None else EffectClass.STAGED.value,
            risks=tool.risks if tool is not None else (Risk.CHANGES,),
            destination=host,
        )
        verdicts = await self._platform.gates.ask(action)
        records = tuple(verdict.record for verdict in verdicts)
        if verdicts and verdicts[-1].refusal is not None:
            raise LinkRefused("hook", verdicts[-1].refusal, records)
        return records

    def _facts(self, request: ToolRequested, tool: ToolDefinition, host: str | None) -> dict[str, Any]:
        return {
            "tool": tool.name,
            "effect_class": tool.effect_class.value,
            "mutates": tool.mutates,
            "leaves_machine": tool.leaves_machine,
            "args_digest": grants.digest_of(request),
            "skill": tool.skill,
            "epoch": request.epoch,
            "allowed_tools": as_policy_reads(request.allowed, tool.name),
            # The grant covers it: it is what the turn's own question said.
            "touched": request.touched.facts,
            "destination": host,
            "paths_in_scope": True,
            "payload_seen": request.approval_id is not None,
            "hitl": request.hitl.value,
        }


def runnable(tool: ToolDefinition) -> bool:
    """Return whether the tool's method exists here. A skill may be written for another version, or by mistake."""
    match tool.primitive:
        case Primitive.GRAPH:
            return tool.method in PRIMITIVES
        case Primitive.RETRIEVAL:
            return tool.method == CONTENT_SEARCH
        case Primitive.WEB:
            return tool.method == FETCH
        case Primitive.MEMORY:
            return tool.method in remembering.METHODS
        case Primitive.MULTIMODAL:
            return tool.method in set(StepType)
        case Primitive.COMMAND:
            return tool.method == RUN_COMMAND
    return True


def as_planned(tool: ToolDefinition, request: ToolRequested) -> ToolDefinition:
    """Return the tool if it is the one that was planned; another of its name might act differently.

    Raises:
        NotAsPlanned: it is not.
    """
    if request.tool_digest not in (None, tool.digest):
        raise NotAsPlanned("schema", f"{tool.name} has changed since this was planned")
    return tool


async def expanded(objects: Objects, tenant: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the args with blobs in place of their handles.

    Raises:
        LinkRefused: a handle names no blob of this tenant.
    """
    full = dict(args)
    for name, value in args.items():
        if isinstance(value, Mapping) and "$blob" in value:
            try:
                full[name] = orjson.loads(await objects.get(tenant, str(value["$blob"])))
            except Rejected as error:
                raise LinkRefused("schema", f"{name}: {error}") from error
    return full


def _exists(root: Path, text: str) -> bool:
    """Return whether this names something in the workspace. If so it is a path, whatever it looks like."""
    try:
        return bool(text) and len(text) < 4096 and (root / paths.within(str(root), text)).exists()
    except (Rejected, OSError, ValueError):
        return False
