"""The router (S3-17 … S3-19): the candidates that may do a task, in a fixed order, each asked of policy.

Rules come before every ranking: health, the allowed cost, and policy decide who is a candidate at all (S3-23).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from libs.events import ActionRecorded
from libs.multimodal.ports import Brief, Capability, CostTier, Producer
from libs.multimodal.ranking import Ranking, scores, ties_broken
from libs.runtime import Platform
from libs.telemetry import logger, metrics
from services.tool_executor import calls
from services.tool_executor.multimodal.executions import Executions
from services.tool_executor.multimodal.outcomes import outcomes
from services.tool_executor.multimodal.registry import Registry
from services.tool_executor.multimodal.tasks import Task

ACTION = "multimodal.tool.execute"
log = logger("multimodal")


@dataclass(frozen=True, slots=True)
class Route:
    """The allowed candidates, the one to use first; the records of policy's decisions; why others are left out."""

    allowed: Sequence[Producer]
    records: tuple[ActionRecorded, ...]
    left_out: tuple[str, ...]


class Router:
    def __init__(
        self, platform: Platform, registry: Registry, executions: Executions, *, most: CostTier, ranking: Ranking
    ) -> None:
        self._platform, self._registry, self._executions = platform, registry, executions
        self._most, self._ranking = most, ranking

    async def route(self, task: Task, brief: Brief, *, failed: Collection[str] = ()) -> Route:
        """Return who may do a task. Candidates that failed are left out; the next one replaces them.

        Raises:
            Unavailable: policy or the database does not answer.
        """
        allowed: list[Producer] = []
        records: list[ActionRecorded] = []
        left_out: list[str] = []
        await self._registry.ready()
        paid, stands_in = await self._paid_today(task), bool(failed)
        for producer in self._candidates(task, brief):
            capability = producer.capability
            if capability.name in failed:
                continue
            if problem := self._registry.problem_of(capability):
                left_out.append(f"{capability.name}: {problem}")
                stands_in = True
            elif fault := self._too_expensive(task, capability):
                left_out.append(f"{capability.name}: {fault}")
            else:
                decision = await self._platform.policy.decide(ACTION, self._facts(task, capability, paid, stands_in))
                open_ = decision.allowed and not decision.obligations
                records.append(
                    calls.recorded(
                        task.request,
                        "decision",
                        "allow" if open_ else "deny",
                        rule=decision.rule,
                        revision=decision.revision,
                    ).model_copy(update={"action": ACTION, "resource": capability.name})
                )
                if open_:
                    allowed.append(producer)
                else:
                    owed = f"{', '.join(decision.obligations)} is owed" if decision.allowed else decision.reason
                    left_out.append(f"{capability.name}: policy: {owed}")
        return Route(await self._ranked(task, allowed), tuple(records), tuple(left_out))

    async def _ranked(self, task: Task, allowed: Sequence[Producer]) -> Sequence[Producer]:
        """Break ties by earlier outcomes, or only note where the ranking differs."""
        if len(allowed) < 2:
            return allowed
        names = [producer.capability.name for producer in allowed]
        by = scores(await outcomes(self._platform, task.lease.tenant, task.step_type), names)
        if (best := max(names, key=lambda name: by[name])) != names[0] and by[best] > by[names[0]]:
            metrics.ranker_divergence.labels(task.step_type.value).inc()
            log.info("ranking differs", chosen=names[0], ranked=best, scores=dict(by), mode=self._ranking.value)
        if self._ranking is Ranking.SHADOW:
            return allowed
        return ties_broken([(each.capability.priority, each.capability.name, each) for each in allowed], by)

    def _candidates(self, task: Task, brief: Brief) -> Sequence[Producer]:
        return self._registry.find(
            task.step_type,
            modality=task.step_type.modality,
            format=brief.format,
            language=brief.language,
            max_resolution=brief.max_resolution,
        )

    def _too_expensive(self, task: Task, capability: Capability) -> str:
        if capability.cost_tier.rank > self._most.rank:
            return f"its cost tier is {capability.cost_tier}, and this deployment allows {self._most}"
        cents = task.args.get("max_cost_cents")
        if cents is not None and capability.cost_micros > cents * 10_000:
            return f"it may cost {capability.cost_micros / 10_000:g} cents, and the call allows {cents}"
        return ""

    async def _paid_today(self, task: Task) -> int:
        midnight = self._platform.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
        return await self._executions.paid(task.lease.tenant, midnight, midnight + timedelta(days=1))

    def _facts(self, task: Task, capability: Capability, paid_today: int, stands_in: bool) -> dict[str, Any]:
        request, approved = task.request, task.request.approval_id is not None
        return {
            "tenant": task.lease.tenant,
            "principal": {"id": request.principal, "scopes": list(request.scopes)},
            "session": task.session,
            "turn": request.turn_id,
            "tool": capability.tool_id,
            "provider": capability.provider,
            "step_type": task.step_type.value,
            "destination": capability.destination,
            "leaves_machine": capability.destination is not None,
            "touched": request.touched.facts,
            "cost_tier": capability.cost_tier.value,
            "cost_micros": capability.cost_micros,
            "paid": capability.cost_micros > 0,
            "paid_today": paid_today + (capability.cost_micros > 0),
            "fallback": stands_in,
            "approved": approved,
            "payload_seen": approved,
            "hitl": request.hitl.value,
        }
