"""The executor's coroutines: a request passes the chain and becomes a leased call; the call's end becomes its outcome.

Each may run twice: a request that is known already runs nothing, and an outcome counts once, under the newest token.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from libs.bus import Record
from libs.changes import Cause, Changeset
from libs.errors import Rejected, SumaError, Unavailable
from libs.events import (
    NOTHING,
    ActionRecorded,
    CallsEraseRequested,
    Envelope,
    ToolCancelRequested,
    ToolDenied,
    ToolFailed,
    ToolRequested,
    ToolSucceeded,
)
from libs.hooks import HookUnavailable
from libs.identity import grants
from libs.leases import Cancelled, Lease, NewLease
from libs.objects import bodies
from libs.policy import POLICY_SECONDS
from libs.runtime import Platform
from libs.telemetry import logger
from services.tool_executor import calls, event_sizes, touched
from services.tool_executor.blobs import clearing
from services.tool_executor.chain import Chain, LinkRefused, NotAsPlanned, Passed
from services.tool_executor.effects.external_calls import Effects
from services.tool_executor.history import History
from services.tool_executor.multimodal.assets import collecting
from services.tool_executor.rows import (
    CallDead,
    ExecutionsLeft,
    SessionErased,
    SnapshotAdded,
    StageHead,
    StageOperation,
    TurnCancelled,
)
from services.tool_executor.runner import CallOutput, CallRunner, FilesChanged
from services.tool_executor.settings import Settings
from services.tool_executor.tools.workspace_tools import COMMIT, WORKSPACE_TOOLS
from services.tool_executor.workspaces import GROUP, Workspaces, queries

TOOL = "tool"
SETTLED_SECONDS = 3.0
"""Processes read changed skills each on their own, within a second: for so long a difference may be passing."""


class SkillsDiffer(Unavailable):
    """The plan was made with a version of the skill that this process does not have yet."""

    code = "SKILLS_DIFFER"


class StageMoved(Rejected):
    """The stage was changed by something else while this call worked on it; nothing of the call was kept."""

    code = "STAGE_MOVED"


log = logger("executor")


class Handlers:
    def __init__(
        self,
        platform: Platform,
        workspaces: Workspaces,
        work: CallRunner,
        effects: Effects,
        history: History,
        settings: Settings,
        chain: Chain,
    ) -> None:
        self._platform, self._workspaces, self._settings = platform, workspaces, settings
        self._work, self._effects, self._history = work, effects, history
        self._chain = chain

    async def requested(self, cause: Cause, event: Envelope[ToolRequested]) -> Changeset:
        request = event.data
        # A known call, and one of a cancelled turn, conflict when they are opened: only then is it worth a look.
        if cause.again and (stale := await self._stale(cause, request)) is not None:
            return stale
        now = self._platform.clock.now()
        try:
            passed = await self._chain.check(cause, request, now)
        except LinkRefused as refused:
            if isinstance(refused, NotAsPlanned) and now - event.time < timedelta(seconds=SETTLED_SECONDS):
                raise SkillsDiffer(refused.reason) from refused
            return self._refuse(cause, request, refused)
        except Unavailable as error:
            # Nothing runs without an answer; after a minute a refusal frees the turn that waits.
            if now - event.time < timedelta(seconds=POLICY_SECONDS):
                raise
            if isinstance(error, HookUnavailable):
                return self._refuse(cause, request, LinkRefused("hook", f"{error.code}: {error}"))
            return self._refuse(cause, request, LinkRefused("policy", f"POLICY_UNAVAILABLE: {error}"))
        if passed.tool is not None and passed.tool.from_outside:
            return await self._effects.begin(cause, request, passed.tool, passed)
        return self._begin(cause, request, passed)

    async def cancelled(self, cause: Cause, event: Envelope[ToolCancelRequested]) -> Changeset:
        request = event.data
        rows = await self._platform.database.rows(GROUP, cause.tenant, queries.running_calls, turn=request.turn_id)
        running = [row["call_id"] for row in rows if request.call_id in (None, row["call_id"])]
        changeset = Changeset(cause).cancel(*running)
        # A cancel passes parked events (bus.md 15): a request of the turn that comes after it finds this row.
        return changeset if request.call_id else changeset.put(TurnCancelled(request.turn_id))

    async def erase(self, cause: Cause, event: Envelope[CallsEraseRequested]) -> Changeset:
        """Erase what is kept of a session. Raises BadGrant."""
        session = cause.session or ""
        grants.verify_erasure(self._platform.keys, event.data.grant, tenant=cause.tenant, session=session)
        return Changeset(cause).put(SessionErased(session)).start(collecting(cause.id))

    async def run(self, lease: Lease) -> CallOutput:
        return await self._work.do(lease, calls.request_of(lease), Cause.of_lease(lease).session or "")

    async def ended(self, lease: Lease, output: CallOutput) -> Changeset:
        """Write the outcome, the stage's new operations and the journal's mirror in one transaction."""
        cause, request = Cause.of_lease(lease), calls.request_of(lease)
        session = cause.session or ""
        # Before the transaction: an event may only name a blob that is already stored.
        data = await bodies.store(self._platform.objects, lease.tenant, output.data)
        changeset = calls.closed(cause, request, "succeeded", {"summary": output.summary[:2000]}).put(*output.rows)
        if output.length is not None:
            changeset = await self._moved(changeset, request, output, session)
        if output.journal is not None:
            changeset = changeset.put(replace(output.journal, session_id=session))
            if request.tool == COMMIT:
                changeset = self._history.committed(changeset, output.journal.commit_id, output.journal.root)
        # Only after the commit: an uncommitted copy could carry the revision of another process's change.
        workspace = output.workspace
        if workspace is not None:
            changeset = changeset.on_commit(lambda: self._workspaces.keep(lease.tenant, session, workspace))
        return changeset.emit(
            *output.events,
            calls.recorded(request, "outcome", "succeeded"),
            ToolSucceeded(
                call_id=request.call_id,
                turn_id=request.turn_id,
                step_id=request.step_id,
                data=data,
                summary=output.summary[:2000],
                snapshot=output.snapshot[0] if output.snapshot else None,
                staged=output.length or 0,
                reads=event_sizes.fitting(output.reads, event_sizes.READS_BYTES),
                diff=output.diff,
                commit_id=output.commit_id,
                warnings=event_sizes.warnings(output.warnings),
                touched=touched.by(self._platform.skills, request, output.reads),
            ),
        )

    async def failed(self, lease: Lease, error: SumaError) -> Changeset:
        """Write that the call did not happen; what was staged in memory is discarded with its workspace."""
        cause, request = Cause.of_lease(lease), calls.request_of(lease)
        code = "CANCELLED" if isinstance(error, Cancelled) else error.code
        conflicts = error.paths if isinstance(error, FilesChanged) else ()
        closed = calls.closed(cause, request, "failed", {"code": code, "error": str(error)[:2000]})
        return closed.put(ExecutionsLeft(request.call_id, str(error)[:2000])).emit(
            calls.recorded(request, "outcome", "failed", rule=code),
            calls.failure(
                request,
                code,
                str(error),
                touched=touched.by(self._platform.skills, request),
                conflicts=event_sizes.fitting(conflicts[:200], event_sizes.CONFLICTS_BYTES),
            ),
        )

    def on_dead_letter(self, cause: Cause, dead: Record, error: SumaError) -> Changeset:
        """Close a request that cannot be handled, so that no replay runs it, and report it to its turn."""
        # Read field by field: the event may be dead because it does not match its class.
        data = dead.fields()
        call, step = str(data.get("call_id", dead.event_id)), str(data.get("step_id", ""))
        turn = str(data.get("turn_id", dead.header("turnid") or ""))
        failed = ToolFailed(
            call_id=call, turn_id=turn, step_id=step, code=error.code, error="the request could not be handled"
        )
        tool = str(data.get("tool", ""))
        row = CallDead(call_id=call, session_id=cause.session or "", turn_id=turn, step_id=step, tool=tool)
        recorded = ActionRecorded(
            action="tool.execute",
            phase="outcome",
            verdict="dead",
            principal=str(data.get("principal", "")),
            resource=tool,
            rule=error.code,
            turn_id=turn,
            step_id=step,
            call_id=call,
        )
        return Changeset(cause).put(row).emit(recorded, failed)

    async def _stale(self, cause: Cause, request: ToolRequested) -> Changeset | None:
        """Return the answer to a call that is known, or whose turn was cancelled before it arrived."""
        known = await self._platform.database.row(
            GROUP, cause.tenant, queries.known, call=request.call_id, turn=request.turn_id
        )
        if known["call"]:
            return Changeset(cause).emit(calls.recorded(request, "decision", "stale"))
        # A cancelled turn still drops its stage, so the workspace tools pass.
        if known["cancelled"] and request.tool not in WORKSPACE_TOOLS:
            return _cancelled_before(cause, request)
        return None

    def _begin(self, cause: Cause, request: ToolRequested, passed: Passed) -> Changeset:
        given = request.model_dump(mode="json", exclude_defaults=True)
        return (
            calls.opened(cause, request, "running")
            .start(NewLease(request.call_id, TOOL, {"request": given}, repeats="request"))
            .emit(
                calls.allowed(request, passed.decision),
                *passed.gates,
                calls.recorded(request, "intent", "begin", revision=passed.decision.revision),
            )
        )

    def _refuse(self, cause: Cause, request: ToolRequested, refused: LinkRefused) -> Changeset:
        log.warning("refused call", link=refused.link, reason=refused.reason, call_id=request.call_id)
        return calls.opened(cause, request, "denied", {"link": refused.link, "reason": refused.reason[:2000]}).emit(
            *refused.records,
            calls.recorded(request, "decision", "deny", rule=refused.link, revision=self._platform.policy.revision),
            ToolDenied(
                call_id=request.call_id,
                turn_id=request.turn_id,
                step_id=request.step_id,
                link=refused.link,
                reason=refused.reason[:2000],
            ),
        )

    async def _moved(self, changeset: Changeset, request: ToolRequested, output: CallOutput, session: str) -> Changeset:
        """Return the stage's new head and operations. Its revision guards it; the work was done on the one before."""
        head = await self._platform.database.row(GROUP, changeset.cause.tenant, queries.stage_head, session=session)
        revision = int(head["revision"]) + 1 if head else 1
        if output.workspace is not None and output.workspace.revision != revision:
            raise StageMoved()
        stored = head["turn_id"] if head and head["contents"] else None
        goes_on = stored == request.turn_id and not output.ended
        if stored is not None and not goes_on:
            # In the same transaction: once no stage names the area, nothing else would ever clear it.
            changeset = changeset.start(clearing(stored))
        moved = StageHead(
            session_id=session,
            revision=revision,
            length=output.length or 0,
            base=output.base,
            ended=output.ended,
            root=request.root,
            turn_id=request.turn_id,
            contents=output.contents or goes_on,
        )
        operations = (
            StageOperation(session_id=session, version=version, step_id=request.step_id, operation=operation)
            for version, operation in enumerate(output.operations, output.base + 1)
        )
        changeset = changeset.put(moved, *operations)
        if output.snapshot is not None:
            snapshot, version = output.snapshot
            row = SnapshotAdded(session_id=session, snapshot_id=snapshot, version=version, step_id=request.step_id)
            changeset = changeset.put(row)
        return changeset


def _cancelled_before(cause: Cause, request: ToolRequested) -> Changeset:
    """Close a call whose turn was cancelled before it arrived."""
    return calls.opened(cause, request, "failed", {"code": "CANCELLED"}).emit(
        calls.recorded(request, "decision", "stale"),
        calls.failure(request, "CANCELLED", "the turn was cancelled", touched=NOTHING),
    )
