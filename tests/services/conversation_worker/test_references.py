"""References between steps: what a step that never succeeded does to those that build on it."""

from __future__ import annotations

import pytest

from libs.events.values import Step, StepState
from services.conversation_worker.domain import step_references


@pytest.mark.requirement("S4-36")
@pytest.mark.parametrize("state", [StepState.ROLLED_BACK, StepState.SKIPPED, StepState.DENIED, StepState.CANCELLED])
def test_a_step_is_blocked_by_a_dependency_that_never_succeeds(state: StepState) -> None:
    step = Step(step_id="s2", ordinal=2, description="", tool="t", args={"paths": "$step(1).nodes"})
    assert step_references.blocked(step, {1: state})
    assert not step_references.blocked(step, {1: StepState.SUCCEEDED})
