"""The chain that makes one asset: draft, route, rank, produce, judge, try again with the critique (decision 0130)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from posixpath import basename
from typing import Any

from libs import ids
from libs.budgets import Amount, Charge, OverBudget, Payer, billed, paid_by
from libs.changes import Cause
from libs.errors import Rejected, SumaError, Unavailable
from libs.events import OutcomeRecorded
from libs.multimodal.ports import (
    MAX_REWORK,
    Brief,
    CannotProduce,
    Capability,
    Critic,
    Input,
    Made,
    Producer,
    StepType,
    Verdict,
)
from libs.runtime import Platform
from libs.telemetry import logger, metrics, span
from services.tool_executor.calls import LeaseLost
from services.tool_executor.multimodal.assets import NO_WORDS, Assets, Making, Words
from services.tool_executor.multimodal.drafting import Draft, revised
from services.tool_executor.multimodal.executions import FAILED, REWORK, RUNNING, SUCCEEDED, Execution, Executions
from services.tool_executor.multimodal.router import Route, Router
from services.tool_executor.multimodal.tasks import (
    NoCapability,
    Produced,
    ProviderFailed,
    ProviderInDoubt,
    QualityNotReached,
    Task,
)
from services.tool_executor.rows import ExecutionClosed
from services.tool_executor.tools.tool_context import human, many
from services.tool_executor.workspaces import GROUP

FROM_FOLDER = {"clarity": 0.8}
"""The least scores of a drawing of a folder, of which a further attempt can draw less."""

log = logger("multimodal")


@dataclass(slots=True)
class Progress:
    """The state of a call between its attempts."""

    attempt: int = 0
    reworks: int = 0
    feedback: list[str] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)
    retention: str = ""
    words: Words = NO_WORDS


class Studio:
    def __init__(
        self,
        platform: Platform,
        router: Router,
        executions: Executions,
        assets: Assets,
        critics: Callable[[StepType], Sequence[Critic]],
    ) -> None:
        self._platform, self._router, self._executions, self._critics = platform, router, executions, critics
        self._assets, self._budgets = assets, platform.budgets

    async def make(self, task: Task) -> Produced:
        """Make the asset of a call.

        Raises:
            CannotProduce: the call's own args are at fault.
            NoSuchRetention: it names no class of the settings.
            NoCapability, ProviderFailed, ProviderInDoubt, QualityNotReached, OverBudget: there is no asset.
            Unavailable: it can be tried again.
        """
        about = {
            "job_id": task.request.turn_id,
            "step_id": task.request.step_id,
            "modality": task.step_type.modality.value,
        }
        with span(f"step_{task.request.ordinal:02}", attributes=about):
            return await self._make(task)

    async def _make(self, task: Task) -> Produced:
        progress, last = _resumed(await self._executions.of_call(task))
        resumed = last if last is not None and last.status == RUNNING else None
        progress.retention = self._assets.retention(task.args.get("retention"))
        progress.words = await self._words(task)
        inputs = [
            await self._assets.load(task.lease.tenant, asset, session=task.session) for asset in _wanted(task.args)
        ]
        while True:
            progress.attempt += 1
            draft = await task.draft(progress.reworks + 1)
            brief = _brief(task, draft, progress, inputs, self._platform.clock.now())
            route = await self._router.route(task, brief, failed=progress.failed)
            paid = resumed is not None and resumed.paid
            # First: a provider that is ill by now may have been paid all the same.
            chosen = (
                self._repeated(resumed, route)
                if resumed is not None and paid
                else await self._chosen(task, brief, route, progress)
            )
            resumed = None
            produced = await self._attempt(task, chosen, brief, route, progress, paid=paid)
            if produced is not None:
                return replace(produced, warnings=(*draft.warnings, *progress.warnings))

    async def _words(self, task: Task) -> Words:
        request, prompt = task.request, str(task.args.get("prompt", ""))
        asset, cause = ids.derived(request.call_id, "asset"), Cause.of_lease(task.lease)
        return await self._assets.words(cause, asset, prompt, principal=request.principal, scopes=request.scopes)

    async def _chosen(self, task: Task, brief: Brief, route: Route, progress: Progress) -> Producer:
        if not route.allowed:
            await self._executions.record(task, progress.attempt, route.records)
            why = "; ".join((*route.left_out, *progress.warnings)) or "none is registered"
            kind = ProviderFailed if progress.failed else NoCapability
            raise kind(f"nothing can do {task.step_type} as {brief.format} now: {why}")
        chosen = route.allowed[0]
        for left_out in route.left_out:
            warning = f"{chosen.capability.name} was used in place of {left_out}"
            if warning not in progress.warnings:
                progress.warnings.append(warning)
        return chosen

    def _repeated(self, last: Execution, route: Route) -> Producer:
        """Return the producer that an interrupted attempt is repeated with, which does it once and charges it once."""
        for each in route.allowed:
            if each.capability.name == last.name and each.capability.constraints.get("honours_keys"):
                return each
        raise ProviderInDoubt(
            f"the attempt with {last.name} was interrupted and may have been paid for; look there, then try again"
        )

    async def _charged(self, task: Task, capability: Capability, route: Route, attempt: int) -> Charge:
        """Reserve the cost of an attempt from the budget."""
        try:
            with paid_by(_payer(task)):
                return await billed(self._budgets, Amount(cost_micros=capability.cost_micros), about=capability.name)
        except OverBudget:
            await self._executions.record(task, attempt, route.records)
            raise

    async def _attempt(
        self, task: Task, producer: Producer, brief: Brief, route: Route, progress: Progress, *, paid: bool
    ) -> Produced | None:
        """Return the asset of one attempt; None if another may follow. `paid`: it repeats one that was begun."""
        capability = producer.capability
        about = {"tool_id": capability.tool_id, "provider": capability.provider, "job_id": task.request.turn_id}
        with span(f"execution_attempt_{progress.attempt}", attributes=about) as here:
            # Before the attempt is written: one that was begun has its charge, and its repetition needs no second one.
            free = paid or not capability.cost_micros
            charge = Charge() if free else await self._charged(task, capability, route, progress.attempt)
            try:
                await self._executions.begin(task, progress.attempt, capability, route.records)
            except LeaseLost:
                await charge.cancel()
                raise
            self._platform.point(f"{GROUP}:multimodal:begun")
            closed = ExecutionClosed(
                id=f"{task.request.call_id}:{progress.attempt}",
                token=task.lease.token,
                status=FAILED,
                latency_ms=0,
                cost_micros=0,
            )
            began = time.monotonic()
            metrics.capability_selections.labels(
                capability.tool_id, capability.provider, task.step_type.modality.value
            ).inc()
            try:
                made = await self._produced(task, producer, brief, charge)
            except LeaseLost:
                raise
            except (Unavailable, Rejected) as error:
                closed = replace(closed, latency_ms=_since(began), error=str(error)[:2000])
                # A request that cannot be produced says nothing of its producer.
                at_fault = not isinstance(error, CannotProduce)
                await self._executions.end(task, closed, *([_outcome(task, capability, closed)] if at_fault else []))
                if isinstance(error, Rejected):
                    raise
                progress.failed.add(capability.name)
                progress.warnings.append(f"{capability.name} failed: {error}")
                return None
            self._platform.point(f"{GROUP}:multimodal:made")
            closed = replace(closed, latency_ms=_since(began), cost_micros=made.cost_micros)
            metrics.execution_latency.labels(capability.tool_id, capability.provider).observe(time.monotonic() - began)
            metrics.execution_cost.labels(capability.tool_id, capability.provider).inc(made.cost_micros / 10_000)
            verdict = await self._judged(task, brief, made, progress)
            if verdict is not None:
                here.set_attribute("quality_score", verdict.quality)
                metrics.quality.labels(capability.tool_id, capability.provider).observe(verdict.quality)
                closed = replace(closed, quality_score=verdict.quality, critique=list(verdict.critique))
                if not verdict.passed:
                    await self._rework(task, capability, closed, verdict, progress)
                    return None
            return await self._kept(task, capability, brief, made, verdict, closed, progress)

    async def _produced(self, task: Task, producer: Producer, brief: Brief, charge: Charge) -> Made:
        """Call the producer and settle the charge, as long as this process holds the lease."""

        def check() -> None:
            task.check()
            if not task.lease.valid():
                raise LeaseLost

        check()
        try:
            made = await producer.produce(brief, check=check)
        except SumaError as error:
            # By default it counts as paid: only the provider can say that it was not.
            if not getattr(error, "charged", True):
                await charge.cancel()
            raise
        await charge.settle(Amount(cost_micros=made.cost_micros))
        return made

    async def _judged(self, task: Task, brief: Brief, made: Made, progress: Progress) -> Verdict | None:
        """Return the verdict of the first critic that answers; None if there is none, or none is wanted."""
        if task.args.get("rubric") == {}:
            return None
        asked = task.args.get("rubric", FROM_FOLDER if task.args.get("of") else {})
        rubric = {name: float(least) for name, least in asked.items()}
        with span("quality_evaluation", attributes={"job_id": task.request.turn_id}):
            for critic in self._critics(task.step_type):
                try:
                    with paid_by(_payer(task)):
                        return await critic.judge(brief, made, rubric, check=task.check)
                except (Unavailable, OverBudget) as error:
                    progress.warnings.append(f"a critic did not answer, so the next one judged: {error}")
        return None

    async def _rework(
        self, task: Task, capability: Capability, closed: ExecutionClosed, verdict: Verdict, progress: Progress
    ) -> None:
        """Close an attempt that did not pass. Raises QualityNotReached if no other one follows, or would differ."""
        critique, differs = " ".join(verdict.critique), capability.revises or revised(task.step_type, task.args)
        last = progress.reworks >= MAX_REWORK or not differs
        closed = replace(closed, status=FAILED if last else REWORK, error=critique[:2000])
        await self._executions.end(task, closed, _outcome(task, capability, closed))
        if last:
            raise QualityNotReached(
                f"after {many(progress.reworks + 1, 'attempt')} the quality is {verdict.quality:.2f}: {critique}"
            )
        progress.reworks += 1
        progress.feedback.extend(verdict.critique)
        metrics.reworks.labels(capability.tool_id).inc()

    async def _kept(
        self,
        task: Task,
        capability: Capability,
        brief: Brief,
        made: Made,
        verdict: Verdict | None,
        closed: ExecutionClosed,
        progress: Progress,
    ) -> Produced:
        request = task.request
        about = Making(
            cause=Cause.of_lease(task.lease),
            asset_id=ids.derived(request.call_id, "asset"),
            step_type=task.step_type,
            turn_id=request.turn_id,
            request_id=request.turn_id,
            call_id=request.call_id,
            execution_id=closed.id,
            principal=request.principal,
            plan_id=request.plan_id or "",
            tool_id=capability.tool_id,
            provider=capability.provider,
            title=brief.title,
            words=progress.words,
            quality=verdict.quality if verdict is not None else None,
            parents=tuple(each.asset_id for each in brief.inputs if each.asset_id),
            made_from=_files(task),
        )
        kept = await self._assets.keep(made, about, retention=progress.retention, check=task.check)
        self._platform.point(f"{GROUP}:multimodal:kept")
        progress.warnings.extend([*made.warnings, *kept.warnings])
        data: dict[str, Any] = {
            "asset": kept.asset_id,
            "title": brief.title,
            "format": made.format,
            "media_type": made.media_type,
            "width": made.width,
            "height": made.height,
            "size": kept.size,
            "sha256": kept.sha256,
            "tool_id": capability.tool_id,
            "provider": capability.provider,
            "rework": progress.reworks,
            **({"quality": round(verdict.quality, 3)} if verdict is not None else {}),
        }
        ended = replace(closed, status=SUCCEEDED, asset_id=kept.asset_id)
        summary = f"Made {brief.title} ({made.format}, {human(kept.size)}) with {capability.name}."
        events = (*kept.events, _outcome(task, capability, ended))
        return Produced(data, summary, kept.data, (ended, *kept.rows), events)


def _payer(task: Task) -> Payer:
    return Payer(task.lease.tenant, task.session, task.request.turn_id)


def _resumed(past: Sequence[Execution]) -> tuple[Progress, Execution | None]:
    """Return where an earlier holder of the lease stopped, and its last attempt."""
    ended = [each for each in past if each.status != RUNNING]
    reworked = [each for each in ended if each.status == REWORK]
    progress = Progress(
        attempt=len(ended),
        reworks=len(reworked),
        feedback=[text for each in reworked for text in each.critique],
        failed={each.name for each in ended if each.status == FAILED},
    )
    return progress, past[-1] if past else None


def _brief(task: Task, draft: Draft, progress: Progress, inputs: Sequence[Input], now: datetime) -> Brief:
    args = task.args
    return Brief(
        step_type=task.step_type,
        format=str(args.get("format", "png")),
        title=draft.title,
        prompt=draft.prompt,
        source=draft.source,
        language=draft.language,
        content={**draft.content, "date": now.date().isoformat(), "request": progress.words.text},
        inputs=(*inputs, *draft.inputs),
        max_resolution=int(args.get("max_resolution", 1920)),
        feedback=tuple(progress.feedback),
        key=f"{task.request.call_id}:{progress.attempt}",
    )


def _wanted(args: Mapping[str, Any]) -> Sequence[str]:
    """Return the ids of the assets that a call builds on, each once."""
    named = (*args.get("assets", ()), *(id for each in args.get("sections", ()) for id in each.get("assets", ())))
    return list(dict.fromkeys(map(str, named)))


def _files(task: Task) -> tuple[str, ...]:
    """Return the paths that a call draws from; of the session's folder itself, its name."""
    args = task.args
    named = [args.get("page"), *args.get("files", ()), None if args.get("source") else args.get("path")]
    folder = basename(task.request.root or "") or "."
    return tuple(folder if path == "." else str(path) for path in named if path)


def _outcome(task: Task, capability: Capability, closed: ExecutionClosed) -> OutcomeRecorded:
    return OutcomeRecorded(
        tool_id=capability.tool_id,
        provider=capability.provider,
        step_type=task.step_type.value,
        success=closed.status == SUCCEEDED,
        latency_ms=closed.latency_ms,
        quality=closed.quality_score,
        cost_micros=closed.cost_micros,
    )


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
