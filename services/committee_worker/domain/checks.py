"""The critic's static checks (S0-13 … S0-16). They need no model, run first, and can only reject.

Each check is a function from the case to a fault, or None. The first fault decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from libs.errors import Rejected
from libs.events import Plan, Review, Step, Task
from libs.guards import allows, commands, paths
from libs.skills import REFERENCE, Effect, ToolDefinition, strings

BYTES_MOST = 48 * 1024
"""Bytes of a plan, since it travels inside events. Its steps' results may be large, but are not part of it."""
DEFAULT_ROOT = "/workspace"
"""The default root for checking paths as text; the committee does not access the workspace."""


@dataclass(frozen=True, slots=True)
class Case:
    """A plan under review, with its task and the available tools."""

    task: Task
    plan: Plan
    tools: Mapping[str, ToolDefinition]


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason for a rejection, and the step at fault."""

    reason: str
    step: int | None = None


Check = Callable[[Case], Fault | None]


def examine(case: Case) -> Review:
    """Run the checks in order; approve only if none rejects."""
    for name, check in CHECKS.items():
        fault = check(case)
        if fault is not None:
            return Review(approved=False, reason=f"{fault.reason} Rejected.", by=name, step=fault.step)
    return Review(approved=True, by="static")


def form(case: Case) -> Fault | None:
    """Check that steps are numbered from 1, depend only on earlier ones, and that the plan's size is within bounds."""
    steps = case.plan.steps
    if not steps:
        return Fault("The plan has no steps.")
    if len(case.plan.model_dump_json()) > BYTES_MOST:
        return Fault(f"The plan is longer than {BYTES_MOST} bytes.")
    if [step.ordinal for step in steps] != list(range(1, len(steps) + 1)):
        return Fault("The steps are not numbered 1, 2, 3 ….")
    if len({step.step_id for step in steps}) < len(steps):
        return Fault("Two steps have the same id.")
    for step in steps:
        if not all(1 <= n < step.ordinal for n in step.depends_on):
            return Fault(f"Step {step.ordinal} depends on a step that does not precede it.", step.ordinal)
    return None


def budget(case: Case) -> Fault | None:
    """Check that the turn's calls, including those of earlier rounds, stay within its limit."""
    steps, left, most = len(case.plan.steps), case.task.calls_left, case.task.calls_most
    return (
        Fault(f"The plan has {steps} steps, and {left} of this turn's {most} calls are left.") if steps > left else None
    )


def tools(case: Case) -> Fault | None:
    """Check that each step names an existing, permitted tool, declares correctly whether it mutates, and has valid
    args.
    """
    for step in case.plan.steps:
        tool = case.tools.get(step.tool)
        if tool is None:
            return Fault(f"Step {step.ordinal} uses {step.tool!r}, which does not exist.", step.ordinal)
        if not allows(case.task.tools, step.tool):
            return Fault(f"Step {step.ordinal} uses {step.tool!r}, which this agent may not use.", step.ordinal)
        if step.tool_digest not in (None, tool.digest):
            return Fault(f"Step {step.ordinal} uses {step.tool!r}, which has changed since planning.", step.ordinal)
        # Whether policy exempts the plan from the critic depends on it.
        if step.mutates is not tool.mutates:
            return Fault(f"Step {step.ordinal} misstates whether {step.tool!r} changes something.", step.ordinal)
        result = tool.validate(step.args)
        if not result.valid:
            problems = ", ".join(
                [
                    *(f"{name} is missing" for name in result.missing),
                    *(f"{name} is unknown" for name in result.extra),
                    *result.problems,
                ]
            )
            return Fault(f"Step {step.ordinal}: {problems}.", step.ordinal)
    return None


def references(case: Case) -> Fault | None:
    """Check that each `$step(n).field` names an earlier step and a field that its tool returns (S4-31)."""
    for step in case.plan.steps:
        for text in strings(step.args):
            if not text.startswith("$step("):
                continue
            match = REFERENCE.match(text)
            if match is None:
                return Fault(f"Step {step.ordinal} contains a malformed reference {text!r}.", step.ordinal)
            n, field = int(match[1]), match[2]
            if not 1 <= n < step.ordinal:
                return Fault(f"Step {step.ordinal} refers to step {n}, which does not precede it.", step.ordinal)
            if field not in case.tools[case.plan.steps[n - 1].tool].returns:
                return Fault(f"Step {step.ordinal} refers to {field!r}, which step {n} does not return.", step.ordinal)
    return None


def scope(case: Case) -> Fault | None:
    """Check that no path leaves the workspace (S0-13)."""
    for step in case.plan.steps:
        for path in paths.path_args(case.tools[step.tool].params, step.args):
            # Known only when the earlier step has run: the executor checks it then.
            if path.startswith("$step("):
                continue
            try:
                paths.within(case.task.root or DEFAULT_ROOT, path)
            except Rejected:
                return Fault(f"Step {step.ordinal} touches {path} — path is outside the workspace.", step.ordinal)
    return None


def blocked(case: Case) -> Fault | None:
    """Check that no argument that may be run contains a blocked pattern in any spelling (S0-15)."""
    # The committee cannot see the disk, so it trusts the names that were read. The executor checks them on the disk.
    known = {*case.task.read, *case.task.workspace.get("names", ())}
    for step in case.plan.steps:
        try:
            commands.check_call(case.tools[step.tool], step.args, known.__contains__)
        except Rejected as error:
            return Fault(f"Step {step.ordinal}: {error}", step.ordinal)
    return None


def destructive(case: Case) -> Fault | None:
    """Check that each deleted or overwritten path was read before: in this plan, or in this session at the current
    version (S0-14).
    """
    for step in case.plan.steps:
        tool = case.tools[step.tool]
        if tool.overwrites(step.args) and not all(_has_read(case, step, path) for path in _targets(tool, step)):
            does = "overwrites" if tool.effect is Effect.WRITE else "deletes"
            return Fault(f"Step {step.ordinal} {does} without a prior read.", step.ordinal)
    return None


def _targets(tool: ToolDefinition, step: Step) -> Sequence[str]:
    """Return everything that the step may delete: its paths, its references, and every text inside a list or object,
    since a plan may contain groups of files that it made up. For a tool that deletes as a side effect, return only the
    args that must come from a read.
    """
    taken = {need.param for need in tool.needs} if tool.effect is not Effect.DELETE else step.args.keys()
    args = {name: value for name, value in step.args.items() if name in taken}
    nested = (value for value in args.values() if not isinstance(value, str))
    references = [text for text in strings(args) if text.startswith("$step(")]
    # An argument that is absent may mean everything: only a read of the whole workspace covers that.
    return [*references, *paths.path_args(tool.params, args), *strings(list(nested))] or [""]


def _has_read(case: Case, step: Step, target: str) -> bool:
    if match := REFERENCE.match(target):
        return not case.tools[case.plan.steps[int(match[1]) - 1].tool].mutates
    if target in case.task.read:
        return True
    earlier = (s for s in case.plan.steps[: step.ordinal - 1] if not case.tools[s.tool].mutates)
    return any(_covers(path, target) for s in earlier for path in paths.path_args(case.tools[s.tool].params, s.args))


def _covers(folder: str, target: str) -> bool:
    # With the slash: a read of `a` does not cover `ab`.
    return folder in (".", target) or target.startswith(folder.rstrip("/") + "/")


# The order matters: later checks rely on earlier ones, as on tools that exist and references that are well formed.
CHECKS: Mapping[str, Check] = {
    "form": form,
    "budget": budget,
    "tools": tools,
    "references": references,
    "scope": scope,
    "blocklist": blocked,
    "destructive": destructive,
}
