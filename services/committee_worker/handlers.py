"""The committee at work: plan → examine → review → (resolve → examine → review …), each model call under a lease."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from libs import ids
from libs.budgets import Payer
from libs.budgets.paying import paid_by
from libs.bus.ports import Record
from libs.changes import Cause, Changeset
from libs.errors import SumaError, Unavailable
from libs.events import (
    ActionRecorded,
    PlanApproved,
    PlanCancelRequested,
    PlanRejected,
    PlanRequested,
    PlanUnclear,
    ReviewRequested,
)
from libs.events.envelope import Envelope
from libs.events.values import Plan, Review
from libs.leases.ports import Held, Start
from libs.models.ports import Answered, Drafted, Nonsense, PlannerOutcome, Said, Unclear, Why
from libs.policy.patience import Patience
from libs.policy.ports import Decision, committee_required
from libs.runtime.platform import Platform
from libs.skills import ToolDefinition
from services.committee_worker.deliberation import Deliberation, of, opened
from services.committee_worker.domain import checks, verdict
from services.committee_worker.settings import Settings

PLAN, REVIEW, RESOLVE = "plan", "review", "resolve"
GROUP = "committee_worker"
ANSWER_MOST = 40_000
"""Characters of an answer that needs no plan."""
WISH_MOST = 2000
"""Characters of a request as its replies have made it."""


class Handlers:
    """How each stays right when it runs twice: every decision is a changeset with its input's id."""

    def __init__(self, platform: Platform, settings: Settings) -> None:
        assert platform.model is not None
        self._model, self._policy = platform.model, platform.policy
        self._catalogue, self._settings = platform.catalogue, settings
        self._patience = Patience(platform.clock, settings.policy_seconds)

    async def asked(self, cause: Cause, event: Envelope[PlanRequested]) -> Changeset:
        return Changeset(cause).start(_call(PLAN, cause, opened(event.data)))

    async def shown(self, cause: Cause, event: Envelope[ReviewRequested]) -> Changeset:
        return await self._weigh(cause, opened(event.data), bound(event.data.plan, self._tools))

    async def unwanted(self, cause: Cause, event: Envelope[PlanCancelRequested]) -> Changeset:
        """Close whatever model call the deliberation is at: of all that it may come to there is at most one."""
        request, most = event.data.request_id, self._settings.rejections_most
        later = [_call_id(cause, request, kind, n) for kind in (REVIEW, RESOLVE) for n in range(most)]
        return Changeset(cause).cancel(_call_id(cause, request, PLAN, 0), *later)

    async def plan(self, held: Held) -> PlannerOutcome:
        tools, case = self._tools, of(held)
        with paid_by(_payer(held, case)):
            outcome = await self._model.plan(case.task, tools)
        return replace(outcome, plan=bound(outcome.plan, tools)) if isinstance(outcome, Drafted) else outcome

    async def planned(self, held: Held, outcome: PlannerOutcome) -> Changeset:
        cause, case = Cause.held(held), of(held).spent(outcome.usage)
        if isinstance(outcome, Drafted | Answered) and outcome.wish:
            case = case.model_copy(update={"wish": outcome.wish[:WISH_MOST]})
        match outcome:
            case Drafted(plan=plan):
                return await self._weigh(cause, case, _named(plan, cause))
            case Answered(text=text, why=why):
                empty = Plan(plan_id=ids.derived(cause.id, "plan"))
                approved = _approved(case, empty, committee=False, answer=text[:ANSWER_MOST])
                return Changeset(cause).say(approved.model_copy(update={"undo": why is Why.UNDO}))
            case Unclear():
                return Changeset(cause).say(_unclear(case, outcome))

    async def review(self, held: Held) -> Said:
        case = of(held)
        with paid_by(_payer(held, case)):
            return await self._model.review(case.task, _plan(case), self._tools)

    async def reviewed(self, held: Held, said: Said) -> Changeset:
        cause, case = Cause.held(held), of(held).spent(said.usage)
        review = verdict.read(said.text)
        recorded = Changeset(cause).say(_record(case, review))
        case = case.reviewed(review)
        if review.approved:
            return recorded.say(_approved(case, _plan(case), committee=True))
        return recorded + self._refused(cause, case, review)

    async def resolve(self, held: Held) -> Drafted:
        case = of(held)
        tools = self._tools
        with paid_by(_payer(held, case)):
            drafted = await self._model.resolve(case.task, _plan(case), case.reviews[-1].reason, tools)
        return replace(drafted, plan=bound(drafted.plan, tools))

    async def resolved(self, held: Held, drafted: Drafted) -> Changeset:
        """A mended plan goes back to the critic, also when it is the rejected one again (S0-19)."""
        cause = Cause.held(held)
        return await self._weigh(cause, of(held).spent(drafted.usage), _named(drafted.plan, cause))

    async def failed(self, held: Held, error: SumaError) -> Changeset:
        """A model that cannot answer is no approval, and what it said in vain has been paid for."""
        case = of(held).spent(error.usage) if isinstance(error, Nonsense) else of(held)
        return Changeset(Cause.held(held)).say(_rejected(case, error.code, str(error)))

    def never_heard(self, cause: Cause, dead: Record, error: SumaError) -> Changeset:
        """A request that cannot be handled at all: whoever waits learns it, without anything being loaded."""
        data = dead.fields()
        return Changeset(cause).say(
            PlanRejected(
                request_id=str(data.get("request_id", "")),
                turn_id=str(data.get("turn_id", dead.header("turnid") or "")),
                round=told if isinstance(told := data.get("round"), int) else 1,
                code=error.code,
                reason="The committee could not read the request.",
            )
        )

    @property
    def _tools(self) -> Sequence[ToolDefinition]:
        """As they are now: another look may show others."""
        return self._catalogue.skills.tools

    async def _weigh(self, cause: Cause, case: Deliberation, plan: Plan) -> Changeset:
        """The static checks, then, where policy wants it, the critic."""
        case = case.drafted(plan)
        tools = {tool.name: tool for tool in self._tools}
        review = checks.examine(checks.Case(case.task, plan, tools))
        case = case.reviewed(review) if not review.approved else case
        recorded = Changeset(cause).say(_record(case, review))
        if not review.approved:
            return recorded + self._refused(cause, case, review)
        try:
            required = await self._required(cause, case, plan)
        except Unavailable as error:
            if not self._patience.over(cause.id):
                raise
            return recorded.say(_rejected(case, "POLICY_UNAVAILABLE", str(error)))
        recorded = recorded.say(_decided(case, required))
        if required.allowed:
            return recorded.start(_call(REVIEW, cause, case))
        return recorded.say(_approved(case.reviewed(review), plan, committee=False))

    async def _required(self, cause: Cause, case: Deliberation, plan: Plan) -> Decision:
        named = {step.tool for step in plan.steps}
        return await committee_required(
            self._policy,
            {
                "tenant": cause.tenant,
                "principal": {"id": GROUP, "scopes": []},
                "session": cause.session,
                "turn": case.turn_id,
                "mutates": any(step.mutates for step in plan.steps),
                "leaves_machine": any(tool.leaves_machine for tool in self._tools if tool.name in named),
                "costs_money": False,
            },
        )

    def _refused(self, cause: Cause, case: Deliberation, review: Review) -> Changeset:
        """Mend it and try again, at most until the third rejection (S0-20)."""
        if case.rejections >= self._settings.rejections_most:
            return Changeset(cause).say(_rejected(case, "COMMITTEE_REJECTED", review.reason))
        return Changeset(cause).start(_call(RESOLVE, cause, case))


def bound(plan: Plan, tools: Sequence[ToolDefinition]) -> Plan:
    """The plan, each step with the definition that its author saw: should the tool change, it is not run as another."""
    digests = {tool.name: tool.digest for tool in tools}
    steps = (step.model_copy(update={"tool_digest": digests.get(step.tool)}) for step in plan.steps)
    return plan.model_copy(update={"steps": tuple(steps)})


def _payer(held: Held, case: Deliberation) -> Payer:
    """As the lease and the conversation worker's own event name them."""
    return Payer(held.tenant, Cause.held(held).session or "", case.turn_id)


def _call(kind: str, cause: Cause, case: Deliberation) -> Start:
    return Start(_call_id(cause, case.request_id, kind, case.rejections), kind, {"deliberation": case.dump()})


def _call_id(cause: Cause, request_id: str, kind: str, rejections: int) -> str:
    """The lease of a model call, by what it is for, so that it can be cancelled: between two rejections there is one
    of each kind."""
    return ids.derived(cause.key, request_id, kind, str(rejections))


def _named(plan: Plan, cause: Cause) -> Plan:
    """The plan under names of our own: a model's may be those of other plans."""
    plan_id = ids.derived(cause.id, "plan")
    steps = tuple(
        step.model_copy(update={"step_id": ids.derived(plan_id, str(place))}) for place, step in enumerate(plan.steps)
    )
    return plan.model_copy(update={"plan_id": plan_id, "steps": steps})


def _unclear(case: Deliberation, outcome: Unclear) -> PlanUnclear:
    return PlanUnclear(
        request_id=case.request_id,
        turn_id=case.turn_id,
        round=case.round,
        question=outcome.question[:2000],
        candidates=outcome.candidates[:10],
        missing=outcome.missing[:20],
        usage=case.usage,
    )


def _plan(case: Deliberation) -> Plan:
    if case.plan is None:
        raise ValueError("a deliberation without a plan was put to review")
    return case.plan


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
    )


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


def _record(case: Deliberation, review: Review) -> ActionRecorded:
    return ActionRecorded(
        action="committee.review",
        phase="decision",
        verdict="allow" if review.approved else "deny",
        principal=GROUP,
        resource=case.request_id,
        rule=review.by,
        turn_id=case.turn_id,
    )


def _decided(case: Deliberation, decision: Decision) -> ActionRecorded:
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
