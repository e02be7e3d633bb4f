"""The diagrams of a turn in `docs/turn.md`."""

from __future__ import annotations

import re

import pytest

from services.conversation_worker.turn.transitions import OPEN
from services.diagrams import PAGE

EDGE = re.compile(r"^    (\S+) --> (\S+): ", re.MULTILINE)
OUTSIDE = "[*]"


@pytest.mark.parametrize("which", [0, 1], ids=["goes_on", "stops"])
def test_each_state_is_entered_and_left(which: int) -> None:
    diagrams = PAGE.read_text("utf-8").split("```mermaid\n")[1:]
    assert len(diagrams) == 2
    edges = EDGE.findall(diagrams[which])
    states = {state.value for state in OPEN} | {OUTSIDE}
    assert {end for _, end in edges} == states
    assert {start for start, _ in edges} == states
