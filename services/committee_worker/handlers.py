"""Handlers of the committee: plan → examine → review → (resolve → examine → review …), one lease per model call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from libs import ids
from libs.budgets import Payer, paid_by
from libs.bus import Record
from libs.changes import Cause, Changeset
from libs.errors import SumaError, Unavailable
from libs.events import (
    ActionRecorded,
    Envelope,
    Plan,
    PlanApproved,
    PlanCancelRequested,
    PlanRejected,
    PlanRequested,
    PlanUnclear,
    Review,
    Step,
    ToolCall,
)
from libs.leases import Lease, NewLease
from libs.models.ports import (
    Answered,
    AnswerKind,
    ClarificationNeeded,
    InvalidModelOutput,
    ModelText,
    PlanDraft,
    PlannerOutcome,
)
from libs.multimodal import compiler
from libs.multimodal.dsl import PlanRefused, looks_like_one
from libs.policy import Decision, RetryDeadline, committee_required
from libs.runtime import Platform
from libs.skills import ToolDefinition
from libs.telemetry import span
from services.committee_worker.deliberation import DELIBERATION, Deliberation, of, opened
from services.committee_worker.domain import checks, verdict
from services.committee_worker.settings import Settings

PLAN, REVIEW, RESOLVE = "plan", "review", "resolve"
GROUP = "committee_worker"
ANSWER_MOST = 40_000
"""Characters of an answer without a plan."""
DRAFTS_BYTES = 32 * 1024
"""Bytes of the rejected plans beside an approved one."""
WISH_MOST = 2000
"""Characters of the request as amended by the user's replies."""


class Handlers:
    """Handlers of requests and leases. Safe to repeat: every decision is a changeset with its input's id."""

    def __init__(self, platform: Platform, settings: Settings) -> None:
        assert platform.model is not None
        self._model, self._policy = platform.model, platform.policy
        self._catalogue, self._settings = platform.catalogue, settings
        self._retry_deadline = RetryDeadline(platform.clock)

    async def plan_requested(self, cause: Cause, event: Envelope[PlanRequested]) -> Changeset:
        case, call = opened(event.data), event.data.task.call
        # A given call is the plan, and passes the same checks as a drafted one (decision 0070).
        if call is not None:
            return await self._check_plan(cause, case, _with_own_ids(_plan_of(call, self._tools(cause.tenant)), cause))
        try:
            written = _written(case, self._tools(cause.tenant))
        except PlanRefused as refused:
            return Changeset(cause).emit(_answered(cause, case, str(refused), declined=True))
        if written is not None:
            return await self._check_plan(cause, case, _with_own_ids(written, cause))
        # A new deliberation holds what the request for it does.
        return Changeset(cause).start(replace(_call(PLAN, cause, case), repeats=DELIBERATION))

    async def cancel_requested(self, cause: Cause, event: Envelope[PlanCancelRequested]) -> Changeset:
        """Cancel the deliberation's model call: at most one of its possible calls exists, so cancel them all."""
        request, most = event.data.request_id, self._settings.rejections_most
        later = [_call_id(cause, request, kind, n) for kind in (REVIEW, RESOLVE) for n in range(most)]
        return Changeset(cause).cancel(_call_id(cause, request, PLAN, 0), *later)

    async def plan(self, lease: Lease) -> PlannerOutcome:
        tools, case = self._tools(lease.tenant), of(lease)
        with paid_by(_payer(lease, case)), span("plan_extraction", attributes={"job_id": case.turn_id}):
            outcome = await self._model.plan(case.task, tools)
        # The tools that the model saw: the catalogue may have changed during the call.
        return _bound(outcome, case, tools) if isinstance(outcome, PlanDraft) else outcome

    async def planned(self, lease: Lease, outcome: PlannerOutcome) -> Changeset:
        cause, case = Cause.of_lease(lease), of(lease).spent(outcome.usage)
        if isinstance(outcome, PlanDraft | Answered) and outcome.wish:
            case = case.model_copy(update={"wish": outcome.wish[:WISH_MOST]})
        match outcome:
            case PlanDraft(plan=plan):
                return await self._check_plan(cause, case, _with_own_ids(plan, cause))
            case Answered(text=text, kind=answered):
                undo, declined = answered is AnswerKind.UNDO, answered in (AnswerKind.DECLINED, AnswerKind.DANGEROUS)
                return Changeset(cause).emit(_answered(cause, case, text, undo=undo, declined=declined))
            case ClarificationNeeded():
                return Changeset(cause).emit(_unclear(case, outcome))

    async def review(self, lease: Lease) -> ModelText:
        case = of(lease)
        with paid_by(_payer(lease, case)):
            return await self._model.review(case.task, _plan(case), self._tools(lease.tenant))

    async def reviewed(self, lease: Lease, response: ModelText) -> Changeset:
        cause, case = Cause.of_lease(lease), of(lease).spent(response.usage)
        review = verdict.read(response.text)
        recorded = Changeset(cause).emit(_review_record(case, review))
        case = case.reviewed(review)
        if review.approved:
            return recorded.emit(_approved(case, _plan(case), committee=True))
        return recorded + self._refused(cause, case, review)

    async def resolve(self, lease: Lease) -> PlanDraft:
        case = of(lease)
        tools = self._tools(lease.tenant)
        with paid_by(_payer(lease, case)):
            drafted = await self._model.resolve(case.task, _plan(case), case.reviews[-1].reason, tools)
        return _bound(drafted, case, tools)

    async def resolved(self, lease: Lease, drafted: PlanDraft) -> Changeset:
        """Check and review a resolved plan again, even if it equals the rejected one (S0-19)."""
        cause = Cause.of_lease(lease)
        return await self._check_plan(cause, of(lease).spent(drafted.usage), _with_own_ids(drafted.plan, cause))

    async def failed(self, lease: Lease, error: SumaError) -> Changeset:
        """Reject: a failed model call is no approval. Tokens of a useless answer still count as used."""
        case = of(lease).spent(error.usage) if isinstance(error, InvalidModelOutput) else of(lease)
        return Changeset(Cause.of_lease(lease)).emit(_rejected(case, error.code, str(error)))

    def dead_lettered(self, cause: Cause, dead: Record, error: SumaError) -> Changeset:
        """Reject a dead-lettered request, so that its turn does not wait for ever. Loads nothing."""
        data = dead.fields()
        return Changeset(cause).emit(
            PlanRejected(
                request_id=str(data.get("request_id", "")),
                turn_id=str(data.get("turn_id", dead.header("turnid") or "")),
                round=number if isinstance(number := data.get("round"), int) else 1,
                code=error.code,
                reason="The committee could not read the request.",
            )
        )

    def _tools(self, tenant: str) -> Sequence[ToolDefinition]:
        """Return the tenant's current tools; they may change between calls."""
        return self._catalogue.skills.tools_for(tenant)

    async def _check_plan(self, cause: Cause, case: Deliberation, plan: Plan) -> Changeset:
        """Run the static checks, then start the critic if policy requires it."""
        case = case.drafted(plan)
        tools = {tool.name: tool for tool in self._tools(cause.tenant)}
        # Before policy and the critic: a plan that fails here costs neither.
        review = checks.examine(checks.Case(case.task, plan, tools))
        case = case.reviewed(review) if not review.approved else case
        recorded = Changeset(cause).emit(_review_record(case, review))
        if not review.approved:
            return recorded + self._refused(cause, case, review)
        try:
            required = await self._required(cause, case, plan)
        except Unavailable as error:
            # A short outage of policy must not end the turn: the request is retried. After a minute, silence is a no.
            if not self._retry_deadline.over(cause.id):
                raise
            return recorded.emit(_rejected(case, "POLICY_UNAVAILABLE", str(error)))
        recorded = recorded.emit(_policy_record(case, required))
        if required.allowed:
            return recorded.start(_call(REVIEW, cause, case))
        return recorded.emit(_approved(case.reviewed(review), plan, committee=False))

    async def _required(self, cause: Cause, case: Deliberation, plan: Plan) -> Decision:
        planned = {step.tool for step in plan.steps}
        named = [tool for tool in self._tools(cause.tenant) if tool.name in planned]
        return await committee_required(
            self._policy,
            {
                "tenant": cause.tenant,
                # Without the scopes of a person: no key may exempt its plans from review.
                "principal": {"id": GROUP, "scopes": []},
                "session": cause.session,
                "turn": case.turn_id,
                # The checks have compared this with the tools by now.
                "mutates": any(step.mutates for step in plan.steps),
                "leaves_machine": any(tool.leaves_machine for tool in named),
                "costs_money": any(tool.costs_money for tool in named),
            },
        )

    def _refused(self, cause: Cause, case: Deliberation, review: Review) -> Changeset:
        """Resolve the plan and try again, up to the third rejection (S0-20). A given call is rejected at once: a
        resolved plan would be another call than the one that was asked for. So is a document of the Task DSL, and any
        plan once no call is left.
        """
        given = case.task.call is not None or _is_document(case)
        hopeless = given or not case.task.calls_left
        if hopeless or case.rejections >= self._settings.rejections_most:
            code = "MAX_TOOL_CALLS" if review.by == "budget" else "COMMITTEE_REJECTED"
            return Changeset(cause).emit(_rejected(case, code, review.reason))
        return Changeset(cause).start(_call(RESOLVE, cause, case))


def _plan_of(call: ToolCall, tools: Sequence[ToolDefinition]) -> Plan:
    """Return the plan of one given call. The static checks reject an unknown tool, as in a drafted plan."""
    tool = next((tool for tool in tools if tool.name == call.tool), None)
    step = Step(
        step_id="given",
        ordinal=1,
        description=tool.description if tool is not None else call.tool,
        skill=tool.skill if tool is not None else None,
        tool=call.tool,
        args=call.args,
        mutates=tool is not None and tool.mutates,
    )
    return bind_tools(Plan(plan_id="given", reasoning="The request is this call.", steps=(step,)), tools)


def _written(case: Deliberation, tools: Sequence[ToolDefinition]) -> Plan | None:
    """Return the plan of a request that is a document of the Task DSL. Raises `PlanRefused`."""
    plan = compiler.planned(case.task.text, tools) if _is_document(case) else None
    return bind_tools(plan, tools) if plan is not None else None


def _is_document(case: Deliberation) -> bool:
    """Return whether the request's first plan is the document that its text is; a later round has its results."""
    return case.round == 1 and case.task.clarification is None and looks_like_one(case.task.text)


def _bound(drafted: PlanDraft, case: Deliberation, tools: Sequence[ToolDefinition]) -> PlanDraft:
    """Return a model's plan with the words that it is for, and bound to the tools that the model saw."""
    return replace(drafted, plan=bind_tools(compiler.worded(drafted.plan, case.task.text), tools))


def bind_tools(plan: Plan, tools: Sequence[ToolDefinition]) -> Plan:
    """Bind each step to the tool definition that its author saw, so that a changed tool is not run in its place."""
    digests = {tool.name: tool.digest for tool in tools}
    steps = (step.model_copy(update={"tool_digest": digests.get(step.tool)}) for step in plan.steps)
    return plan.model_copy(update={"steps": tuple(steps)})


def _payer(lease: Lease, case: Deliberation) -> Payer:
    """Return the payer, as named by the lease and the conversation worker's event."""
    return Payer(lease.tenant, Cause.of_lease(lease).session or "", case.turn_id)


def _call(kind: str, cause: Cause, case: Deliberation) -> NewLease:
    return NewLease(_call_id(cause, case.request_id, kind, case.rejections), kind, {DELIBERATION: case.dump()})


def _call_id(cause: Cause, request_id: str, kind: str, rejections: int) -> str:
    """Return the lease id of a model call. It is derived from the call's purpose, so that the call can be cancelled;
    between two rejections there is one call of each kind.
    """
    return ids.derived(cause.key, request_id, kind, str(rejections))


def _with_own_ids(plan: Plan, cause: Cause) -> Plan:
    """Replace the model's ids by derived ones: its own may collide with those of other plans."""
    # Derived, so that a decision that is repeated after a conflict names the same plan and steps.
    plan_id = ids.derived(cause.id, "plan")
    steps = tuple(
        step.model_copy(update={"step_id": ids.derived(plan_id, str(place))}) for place, step in enumerate(plan.steps)
    )
    return plan.model_copy(update={"plan_id": plan_id, "steps": steps})


def _unclear(case: Deliberation, outcome: ClarificationNeeded) -> PlanUnclear:
    return PlanUnclear(
        request_id=case.request_id,
        turn_id=case.turn_id,
        round=case.round,
        question=outcome.question[:2000],
        candidates=outcome.candidates[:10],
        missing=outcome.missing[:20],
        offers=outcome.offers[:10],
        usage=case.usage,
    )


def _plan(case: Deliberation) -> Plan:
    if case.plan is None:
        raise ValueError("the deliberation under review has no plan")
    return case.plan


def _answered(
    cause: Cause, case: Deliberation, text: str, *, undo: bool = False, declined: bool = False
) -> PlanApproved:
    """Return the answer without a plan."""
    empty = Plan(plan_id=ids.derived(cause.id, "plan"))
    approved = _approved(case, empty, committee=False, answer=text[:ANSWER_MOST])
    return approved.model_copy(update={"undo": undo, "declined": declined})


def _approved(case: Deliberation, plan: Plan, *, committee: bool, answer: str | None = None) -> PlanApproved:
    return PlanApproved(
        request_id=case.request_id,
        turn_id=case.turn_id,
        round=case.round,
        plan=plan,
        reviews=case.reviews,
        committee=committee,
        answer=answer,
        usage=case.usage,
        wish=case.wish,
        drafts=_fitting(case.rejected),
    )


def _fitting(drafts: Sequence[Plan]) -> tuple[Plan, ...]:
    """Return the newest drafts that fit into an event beside the plan, oldest first."""
    kept: list[Plan] = []
    left = DRAFTS_BYTES
    for draft in reversed(drafts):
        left -= len(draft.model_dump_json())
        if left < 0:
            break
        kept.append(draft)
    return tuple(reversed(kept))


def _rejected(case: Deliberation, code: str, reason: str) -> PlanRejected:
    return PlanRejected(
        request_id=case.request_id,
        turn_id=case.turn_id,
        round=case.round,
        code=code,
        reason=reason[:2000],
        reviews=case.reviews,
        usage=case.usage,
    )


def _review_record(case: Deliberation, review: Review) -> ActionRecorded:
    return ActionRecorded(
        action="committee.review",
        phase="decision",
        verdict="allow" if review.approved else "deny",
        principal=GROUP,
        resource=case.request_id,
        rule=review.by,
        turn_id=case.turn_id,
    )


def _policy_record(case: Deliberation, decision: Decision) -> ActionRecorded:
    return ActionRecorded(
        action=decision.action,
        phase="decision",
        verdict="required" if decision.allowed else "exempt",
        principal=GROUP,
        resource=case.request_id,
        rule=decision.rule,
        revision=decision.revision,
        turn_id=case.turn_id,
    )
