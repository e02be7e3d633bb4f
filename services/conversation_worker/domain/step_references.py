"""References between steps: `$step(n).field` is a field of an earlier step's result (S4-35)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from libs.errors import Rejected
from libs.events import Args, Step, StepState
from libs.skills import REFERENCE, sources


class DependencyUnavailable(Rejected):
    """A step that this one builds on did not succeed, or was rolled back (S4-36)."""

    code = "DEPENDENCY_UNAVAILABLE"


def needs(step: Step) -> frozenset[int]:
    """Return the ordinals that a step waits for: those it names, and those its args refer to."""
    return frozenset(step.depends_on).union(sources(step.args))


def listed(args: Args) -> tuple[str, ...]:
    """Return the names of the args that refer to an earlier step."""
    return tuple(name for name, value in args.items() if sources({name: value}))


def resolve(args: Args, results: Mapping[int, Mapping[str, Any]]) -> Args:
    """Return the args with every reference replaced.

    Raises:
        DependencyUnavailable: a step has no result, or its result has no such field.
    """
    return {name: _resolved(value, results) for name, value in args.items()}


def blocked(step: Step, states: Mapping[int, StepState]) -> bool:
    """Return whether a dependency can never succeed."""
    over = {
        StepState.FAILED,
        StepState.SKIPPED,
        StepState.DENIED,
        StepState.ROLLED_BACK,
        StepState.CANCELLED,
        StepState.UNKNOWN,
    }
    return any(states.get(n) in over for n in needs(step))


def ready(step: Step, states: Mapping[int, StepState]) -> bool:
    return all(states.get(n) is StepState.SUCCEEDED for n in needs(step))


def _resolved(value: Any, results: Mapping[int, Mapping[str, Any]]) -> Any:
    if isinstance(value, str) and (match := REFERENCE.match(value)):
        n, field = int(match[1]), match[2]
        if n not in results or field not in results[n]:
            raise DependencyUnavailable(f"step {n} shows no {field!r}")
        return results[n][field]
    if isinstance(value, Mapping):
        return {name: _resolved(item, results) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_resolved(item, results) for item in value]
    return value
