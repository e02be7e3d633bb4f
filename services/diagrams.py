"""`python -m services.diagrams [--check]`: write the turn's diagrams and table from its rules.

The rules are `services.conversation_worker.turn.transitions.RULES`; the table is in that module's docstring, and both
are in `docs/turn.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from services.conversation_worker.turn import transitions
from services.conversation_worker.turn.state import TurnState
from services.conversation_worker.turn.transitions import BUSY, NO_WORK, OPEN, RULES, Effect, Rule

ROOT = Path(__file__).resolve().parent.parent
MODULE, PAGE = Path(transitions.__file__).resolve(), ROOT / "docs" / "turn.md"
BEGIN, END = "BEGIN TABLE (`python -m services.diagrams` writes it)\n", "END TABLE\n"
GROUPS = {
    OPEN: "any",
    BUSY: "busy",
    OPEN - BUSY: "not busy",
    NO_WORK: "no work",
}
"""Names of the sets of states that many rules share."""
LEGEND = """\
- `none`: no turn is under way.
- `busy`: the executor works on the workspace for the turn itself (committing, dropping, rolling back, restoring).
- `no work`: every open state but context, answering and awaiting clarification.
- `stopping`: the turn's outcome is decided; it ends as soon as nothing of it is under way.
"""
INTRODUCTION = """\
# The life of a turn

This page is generated from the rules in `services/conversation_worker/turn/transitions.py` by
`python -m services.diagrams`; `make fresh` checks that it is current. A turn's state changes only by these rules. An
input that no rule takes is refused: it is stale, was seen before, or is not possible in that state.

"""
GOES_ON = "A turn that nothing stops. `[*]` is its begin and its end.\n\n"
STOPS = """\
A turn that stops: it enters this diagram at `[*]`, in the state that it is in, and stays there until nothing of it is
under way.

"""
OUTSIDE = "[*]"
LAST = {Effect.END_TURN, Effect.COMPLETE}
"""Effects after which the turn is over."""


def main(arguments: Sequence[str]) -> int:
    """Write the files, or with `--check` compare them; return 1 when one is out of date."""
    written = {MODULE: _module(MODULE.read_text("utf-8")), PAGE: _page()}
    stale = [path for path, text in written.items() if not path.exists() or path.read_text("utf-8") != text]
    if "--check" not in arguments:
        for path in stale:
            path.write_text(written[path], "utf-8")
        return 0
    for path in stale:
        print(f"{path.relative_to(ROOT)} is out of date; run python -m services.diagrams", file=sys.stderr)  # noqa: T201
    return 1 if stale else 0


def _module(source: str) -> str:
    before, _, rest = source.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{''.join(map(_line, _rows()))}{END}{after}"


def _line(row: Sequence[str]) -> str:
    state, input, when, to, effects = row
    condition, follows = f" [{when}]" if when else "", f": {effects}" if effects else ""
    return f"    {state} + {input}{condition} → {to or 'stays'}{follows}\n"


def _page() -> str:
    rows = "".join(f"| {' | '.join(row)} |\n" for row in _rows())
    head, line = "| state | input | when | next | then |\n", "| --- | --- | --- | --- | --- |\n"
    diagrams = f"{GOES_ON}{_diagram(stopping=False)}\n{STOPS}{_diagram(stopping=True)}"
    return f"{INTRODUCTION}{diagrams}\n{LEGEND}\n{head}{line}{rows}"


def _rows() -> Iterator[tuple[str, str, str, str, str]]:
    """Return the cells of each rule: state, input, conditions, next state, effects."""
    for rule in RULES:
        to = "ended" if rule.ends else _name(rule.to) if rule.to is not None else ""
        yield _states(rule.states), rule.input, ", ".join(_conditions(rule)), to, ", ".join(rule.effects)


def _conditions(rule: Rule) -> Iterable[str]:
    if rule.stopping is not None and None not in rule.states:
        yield "stopping" if rule.stopping else "not stopping"
    yield from rule.when


def _states(states: frozenset[TurnState | None]) -> str:
    for group, name in GROUPS.items():
        if states == group:
            return name
    ordered = [state for state in (None, *TurnState) if state in states]
    return ", ".join(map(_name, ordered))


def _name(state: TurnState | None) -> str:
    return "none" if state is None else state.value.replace("_", " ")


def _diagram(*, stopping: bool) -> str:
    """Return the changes of state of a turn that goes on, or of one that stops, as Mermaid."""
    edges: dict[tuple[str, str], list[str]] = {}
    for rule in RULES:
        if rule.ends:
            # The end follows from the effects in `LAST`, which are drawn.
            continue
        for state in (state for state in (None, *TurnState) if state in rule.states):
            start, end = state.value if state else OUTSIDE, _end(rule, state)
            if stopping and _stops(rule):
                edges.setdefault((OUTSIDE, end or start), []).append(rule.input)
            if end is not None and rule.stopping in (None, stopping) and (stopping or not _stops(rule)):
                edges.setdefault((start, end), []).append(rule.input)
    lines = (f"    {start} --> {end}: {', '.join(dict.fromkeys(inputs))}\n" for (start, end), inputs in edges.items())
    return "```mermaid\nstateDiagram-v2\n" + "".join(lines) + "```\n"


def _stops(rule: Rule) -> bool:
    return rule.stops or Effect.STOP in rule.effects


def _end(rule: Rule, state: TurnState | None) -> str | None:
    """Return the state after a rule; None if it stays."""
    if LAST.intersection(rule.effects):
        return OUTSIDE
    return rule.to.value if rule.to not in (None, state) else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
