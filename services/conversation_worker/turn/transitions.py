"""The state machine of a turn: a position and an input give a move, or a refusal that names its reason.

The rules below are the only way in which a turn's state changes (`UnitOfWork.take`). An input that answers something
names what it answers; if the turn no longer waits for that, the input is refused as stale. An effect says what the
caller does next; an effect that ends may lead to a further input. `docs/turn.md` shows the machine as a diagram.

Each line is a rule: state + input [conditions] → next state: effects. "busy" are the states in which the executor works
on the workspace for the turn itself; "no work" are the open ones but context, answering and awaiting clarification.

BEGIN TABLE (`python -m services.diagrams` writes it)
    none + message [slot] → context: begin the turn, gather context
    none + message [no slot, room, none queued] → stays: queue the message, wait for a slot
    none + message [no slot, room, others queued] → stays: queue the message
    none + message [no slot, no room] → stays: refuse the message
    any + message [room] → stays: queue the message
    any + message [no room] → stays: refuse the message
    awaiting clarification + reply [not stopping] → context: take the clarification, gather context
    none + slot free → context: begin the turn, gather context
    context + context gathered [not stopping] → thinking: request a plan
    thinking + plan approved [not stopping] → acting: advance steps
    thinking + plan answered [not stopping, staged] → stays: ask about the diff
    thinking + plan answered [not stopping, nothing staged] → stays: complete
    thinking + plan rejected → stays: stop
    thinking + plan unclear [not stopping] → awaiting clarification: ask for clarification
    awaiting clarification + clarification expired → stays: stop
    acting + step ended → stays: advance steps
    acting, awaiting commit + approval decided → stays: apply the decision
    acting, awaiting commit + approval expired → stays: apply the decision
    any + effect resolved → stays: advance steps
    any + effect expired → stays: stop
    acting + round ended [not stopping, incomplete] → context: gather context
    acting + round ended [complete, staged] → stays: ask about the diff
    acting + round ended [not stopping, complete, nothing staged] → answering: write the answer
    thinking, acting, awaiting commit + commit asked [not stopping] → awaiting commit
    thinking, acting, awaiting commit + call refused [not stopping] → acting: stop
    awaiting commit + commit sent [not stopping] → committing
    committing + committed [not stopping] → answering: write the answer
    committing + committed [stopping] → stays: end the turn
    committing + not committed [not stopping] → acting: ask about the diff
    committing + not committed [stopping] → acting: finish when idle
    committing + commit refused [not stopping] → acting: stop
    committing + commit refused [stopping] → acting: finish when idle
    awaiting commit + drop sent [not stopping] → dropping
    not busy + drop sent [stopping] → dropping
    dropping + dropped [not stopping] → answering: write the answer
    dropping + dropped [stopping] → stays: end the turn
    none + rollback → acting: begin the turn, send the rollback
    acting + rollback sent [not stopping] → rolling back
    rolling back + rolled back [not stopping] → stays: complete
    rolling back + rolled back [stopping] → stays: end the turn
    rolling back + not rolled back → stays: end the turn
    acting + restore [not stopping, a step is asked about, no calls run] → restoring
    awaiting commit + restore [not stopping, no calls run] → restoring
    restoring + restored → acting: advance steps
    answering + answer written [not stopping] → stays: complete
    context + context gathered [stopping] → acting: finish when idle
    answering + answer written [stopping] → acting: finish when idle
    context, answering + work failed → acting: finish when idle
    any + cancel → stays: stop
    context, answering + stop → stays: cancel the work
    awaiting clarification + stop → stays: end the wait, finish when idle
    no work + stop [calls run] → stays: cancel the calls
    no work + stop [no calls run] → stays: finish when idle
    not busy + idle [stopping, no calls run, staged] → stays: send the drop
    not busy + idle [stopping, no calls run, nothing staged] → stays: end the turn
    busy + lost → acting: stop
    not busy + lost → stays: stop
    any + end → ended
END TABLE
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from services.conversation_worker.turn.state import TurnState


class Input(StrEnum):
    """An input of a turn. The first two groups come from outside; the last one follows from an effect."""

    MESSAGE = "message"
    REPLY = "reply"
    SLOT_FREE = "slot free"
    ROLLBACK = "rollback"
    RESTORE = "restore"
    CANCEL = "cancel"

    CONTEXT_GATHERED = "context gathered"
    PLAN_APPROVED = "plan approved"
    PLAN_ANSWERED = "plan answered"
    PLAN_REJECTED = "plan rejected"
    PLAN_UNCLEAR = "plan unclear"
    CLARIFICATION_EXPIRED = "clarification expired"
    STEP_ENDED = "step ended"
    APPROVAL_DECIDED = "approval decided"
    APPROVAL_EXPIRED = "approval expired"
    EFFECT_RESOLVED = "effect resolved"
    EFFECT_EXPIRED = "effect expired"
    COMMITTED = "committed"
    NOT_COMMITTED = "not committed"
    COMMIT_REFUSED = "commit refused"
    DROPPED = "dropped"
    RESTORED = "restored"
    ROLLED_BACK = "rolled back"
    NOT_ROLLED_BACK = "not rolled back"
    ANSWER_WRITTEN = "answer written"
    WORK_FAILED = "work failed"

    ROUND_ENDED = "round ended"
    COMMIT_ASKED = "commit asked"
    CALL_REFUSED = "call refused"
    COMMIT_SENT = "commit sent"
    ROLLBACK_SENT = "rollback sent"
    DROP_SENT = "drop sent"
    STOP = "stop"
    IDLE = "idle"
    LOST = "lost"
    END = "end"


NEW = frozenset({Input.MESSAGE, Input.ROLLBACK, Input.RESTORE})
"""Inputs that name a turn of their own; one that was seen before is refused."""
INTERNAL = frozenset(list(Input)[list(Input).index(Input.ROUND_ENDED) :]) | {Input.SLOT_FREE}
"""Inputs that answer nothing: the process itself decides that they happen."""


class Effect(StrEnum):
    """An action of the caller after a move."""

    BEGIN_TURN = "begin the turn"
    QUEUE_MESSAGE = "queue the message"
    REFUSE_MESSAGE = "refuse the message"
    WAIT_FOR_SLOT = "wait for a slot"
    TAKE_CLARIFICATION = "take the clarification"
    GATHER_CONTEXT = "gather context"
    REQUEST_PLAN = "request a plan"
    ASK_CLARIFICATION = "ask for clarification"
    ADVANCE = "advance steps"
    APPLY_DECISION = "apply the decision"
    ASK_COMMIT = "ask about the diff"
    SEND_DROP = "send the drop"
    SEND_ROLLBACK = "send the rollback"
    WRITE_ANSWER = "write the answer"
    CANCEL_WORK = "cancel the work"
    CANCEL_CALLS = "cancel the calls"
    END_WAIT = "end the wait"
    STOP = "stop"
    FINISH = "finish when idle"
    COMPLETE = "complete"
    END_TURN = "end the turn"


@dataclass(frozen=True, slots=True)
class Position:
    """The facts of a conversation on which a move rests."""

    state: TurnState | None = None
    """None while no turn is under way."""
    turn_id: str | None = None
    stopping: bool = False
    """The outcome is decided; the turn ends as soon as nothing of it is under way."""
    calls: bool = False
    """Calls of steps are running."""
    staged: bool = False
    """There are changes that are neither committed nor dropped."""
    incomplete: bool = False
    """The plan says that another round follows."""
    asking: bool = False
    """A person is asked about a step."""
    slot: bool = True
    """A new turn may begin now."""
    room: bool = True
    """The mailbox takes one more message."""
    queued: bool = False
    """Messages wait in the mailbox."""
    waits_for: frozenset[str] = frozenset()
    """Ids of the leases, plan requests, calls and approvals whose answers the turn still takes."""
    seen: frozenset[str] = frozenset()
    """Ids of turns that are under way, waiting or over."""


@dataclass(frozen=True, slots=True)
class Move:
    """The turn's next position, and what to do."""

    position: Position
    effects: tuple[Effect, ...]
    ends: bool = False
    """The turn is over; its outcome names the final state."""


class Refusal(StrEnum):
    """Why an input changes nothing."""

    SEEN = "its turn was seen before"
    STALE = "the turn does not wait for it"
    BUSY = "another turn is under way"
    UNDER_WAY = "calls or workspace operations are still running"
    NOT_POSSIBLE = "the turn's state does not allow it"


CONDITIONS: Mapping[str, tuple[str, bool]] = MappingProxyType(
    {
        "slot": ("slot", True),
        "no slot": ("slot", False),
        "room": ("room", True),
        "no room": ("room", False),
        "others queued": ("queued", True),
        "none queued": ("queued", False),
        "staged": ("staged", True),
        "nothing staged": ("staged", False),
        "incomplete": ("incomplete", True),
        "complete": ("incomplete", False),
        "calls run": ("calls", True),
        "no calls run": ("calls", False),
        "a step is asked about": ("asking", True),
    }
)
"""The name of each condition in the table: the position's field, and the value that it must have."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table. Without `to` the state stays."""

    states: frozenset[TurnState | None]
    input: Input
    to: TurnState | None
    effects: tuple[Effect, ...]
    when: tuple[str, ...] = ()
    stopping: bool | None = None
    """The rule holds only for a turn that is, or is not, stopping; None for both."""
    stops: bool = False
    """From then on the turn is stopping."""
    ends: bool = False
    """The turn ends in the state of its outcome."""

    def holds(self, position: Position) -> bool:
        return (
            position.state in self.states
            and self.stopping in (None, position.stopping)
            and all(getattr(position, CONDITIONS[name][0]) is CONDITIONS[name][1] for name in self.when)
        )


S, N, E = TurnState, Input, Effect
OPEN = frozenset(state for state in TurnState if not state.has_ended)
BUSY = frozenset({S.COMMITTING, S.DROPPING, S.ROLLING_BACK, S.RESTORING})
"""The executor works on the workspace for the turn itself, and reports how that ended."""


def _rule(
    states: Iterable[TurnState | None], input: Input, to: TurnState | None, *effects: Effect, when: tuple[str, ...] = ()
) -> Rule:
    """Return a rule for a turn that is not stopping."""
    return Rule(frozenset(states), input, to, effects, when, stopping=False)


def _stays(states: Iterable[TurnState | None], input: Input, *effects: Effect, when: tuple[str, ...] = ()) -> Rule:
    return Rule(frozenset(states), input, None, effects, when)


def _stops(states: Iterable[TurnState | None], input: Input, *effects: Effect, when: tuple[str, ...] = ()) -> Rule:
    """Return a rule that gives the turn its outcome; the state stays until nothing is under way."""
    return Rule(frozenset(states), input, None, effects, when, stops=True)


def _stopped(
    states: Iterable[TurnState], input: Input, to: TurnState | None, *effects: Effect, when: tuple[str, ...] = ()
) -> Rule:
    """Return a rule for a turn that is stopping."""
    return Rule(frozenset(states), input, to, effects, when, stopping=True)


NO_WORK = OPEN - {S.CONTEXT, S.ANSWERING, S.AWAITING_CLARIFICATION}
"""Open states in which the turn waits neither for a model nor for a clarification."""
RULES: tuple[Rule, ...] = (
    # Messages
    _rule([None], N.MESSAGE, S.CONTEXT, E.BEGIN_TURN, E.GATHER_CONTEXT, when=("slot",)),
    _stays([None], N.MESSAGE, E.QUEUE_MESSAGE, E.WAIT_FOR_SLOT, when=("no slot", "room", "none queued")),
    _stays([None], N.MESSAGE, E.QUEUE_MESSAGE, when=("no slot", "room", "others queued")),
    _stays([None], N.MESSAGE, E.REFUSE_MESSAGE, when=("no slot", "no room")),
    _stays(OPEN, N.MESSAGE, E.QUEUE_MESSAGE, when=("room",)),
    _stays(OPEN, N.MESSAGE, E.REFUSE_MESSAGE, when=("no room",)),
    _rule([S.AWAITING_CLARIFICATION], N.REPLY, S.CONTEXT, E.TAKE_CLARIFICATION, E.GATHER_CONTEXT),
    _rule([None], N.SLOT_FREE, S.CONTEXT, E.BEGIN_TURN, E.GATHER_CONTEXT),
    # Planning
    _rule([S.CONTEXT], N.CONTEXT_GATHERED, S.THINKING, E.REQUEST_PLAN),
    _rule([S.THINKING], N.PLAN_APPROVED, S.ACTING, E.ADVANCE),
    _rule([S.THINKING], N.PLAN_ANSWERED, None, E.ASK_COMMIT, when=("staged",)),
    _rule([S.THINKING], N.PLAN_ANSWERED, None, E.COMPLETE, when=("nothing staged",)),
    _stays([S.THINKING], N.PLAN_REJECTED, E.STOP),
    _rule([S.THINKING], N.PLAN_UNCLEAR, S.AWAITING_CLARIFICATION, E.ASK_CLARIFICATION),
    _stays([S.AWAITING_CLARIFICATION], N.CLARIFICATION_EXPIRED, E.STOP),
    # Steps
    _stays([S.ACTING], N.STEP_ENDED, E.ADVANCE),
    _stays([S.ACTING, S.AWAITING_COMMIT], N.APPROVAL_DECIDED, E.APPLY_DECISION),
    _stays([S.ACTING, S.AWAITING_COMMIT], N.APPROVAL_EXPIRED, E.APPLY_DECISION),
    _stays(OPEN, N.EFFECT_RESOLVED, E.ADVANCE),
    _stays(OPEN, N.EFFECT_EXPIRED, E.STOP),
    _rule([S.ACTING], N.ROUND_ENDED, S.CONTEXT, E.GATHER_CONTEXT, when=("incomplete",)),
    _stays([S.ACTING], N.ROUND_ENDED, E.ASK_COMMIT, when=("complete", "staged")),
    _rule([S.ACTING], N.ROUND_ENDED, S.ANSWERING, E.WRITE_ANSWER, when=("complete", "nothing staged")),
    # The diff
    _rule([S.THINKING, S.ACTING, S.AWAITING_COMMIT], N.COMMIT_ASKED, S.AWAITING_COMMIT),
    _rule([S.THINKING, S.ACTING, S.AWAITING_COMMIT], N.CALL_REFUSED, S.ACTING, E.STOP),
    _rule([S.AWAITING_COMMIT], N.COMMIT_SENT, S.COMMITTING),
    _rule([S.COMMITTING], N.COMMITTED, S.ANSWERING, E.WRITE_ANSWER),
    _stopped([S.COMMITTING], N.COMMITTED, None, E.END_TURN),
    _rule([S.COMMITTING], N.NOT_COMMITTED, S.ACTING, E.ASK_COMMIT),
    _stopped([S.COMMITTING], N.NOT_COMMITTED, S.ACTING, E.FINISH),
    _rule([S.COMMITTING], N.COMMIT_REFUSED, S.ACTING, E.STOP),
    _stopped([S.COMMITTING], N.COMMIT_REFUSED, S.ACTING, E.FINISH),
    _rule([S.AWAITING_COMMIT], N.DROP_SENT, S.DROPPING),
    _stopped(OPEN - BUSY, N.DROP_SENT, S.DROPPING),
    _rule([S.DROPPING], N.DROPPED, S.ANSWERING, E.WRITE_ANSWER),
    _stopped([S.DROPPING], N.DROPPED, None, E.END_TURN),
    # Undo
    _rule([None], N.ROLLBACK, S.ACTING, E.BEGIN_TURN, E.SEND_ROLLBACK),
    _rule([S.ACTING], N.ROLLBACK_SENT, S.ROLLING_BACK),
    _rule([S.ROLLING_BACK], N.ROLLED_BACK, None, E.COMPLETE),
    _stopped([S.ROLLING_BACK], N.ROLLED_BACK, None, E.END_TURN),
    _stays([S.ROLLING_BACK], N.NOT_ROLLED_BACK, E.END_TURN),
    _rule([S.ACTING], N.RESTORE, S.RESTORING, when=("a step is asked about", "no calls run")),
    _rule([S.AWAITING_COMMIT], N.RESTORE, S.RESTORING, when=("no calls run",)),
    Rule(frozenset({S.RESTORING}), N.RESTORED, S.ACTING, (E.ADVANCE,)),
    # The answer
    _rule([S.ANSWERING], N.ANSWER_WRITTEN, None, E.COMPLETE),
    # The end
    _stopped([S.CONTEXT], N.CONTEXT_GATHERED, S.ACTING, E.FINISH),
    _stopped([S.ANSWERING], N.ANSWER_WRITTEN, S.ACTING, E.FINISH),
    Rule(frozenset({S.CONTEXT, S.ANSWERING}), N.WORK_FAILED, S.ACTING, (E.FINISH,), stops=True),
    _stays(OPEN, N.CANCEL, E.STOP),
    _stops([S.CONTEXT, S.ANSWERING], N.STOP, E.CANCEL_WORK),
    _stops([S.AWAITING_CLARIFICATION], N.STOP, E.END_WAIT, E.FINISH),
    _stops(NO_WORK, N.STOP, E.CANCEL_CALLS, when=("calls run",)),
    _stops(NO_WORK, N.STOP, E.FINISH, when=("no calls run",)),
    # Not while busy: whether files have changed is known only once the executor has reported.
    _stopped(OPEN - BUSY, N.IDLE, None, E.SEND_DROP, when=("no calls run", "staged")),
    _stopped(OPEN - BUSY, N.IDLE, None, E.END_TURN, when=("no calls run", "nothing staged")),
    Rule(BUSY, N.LOST, S.ACTING, (E.STOP,)),
    _stays(OPEN - BUSY, N.LOST, E.STOP),
    Rule(OPEN, N.END, None, (), ends=True),
)


def decide(position: Position, input: Input, about: str = "") -> Move | Refusal:
    """Return what follows from an input.

    `about` is the id of what an input from outside answers (a lease, a plan request, a call, an approval), or of the
    turn that it names.
    """
    refusal = _refused(position, input, about)
    if refusal is not None:
        return refusal
    rule = next((rule for rule in BY_INPUT[input] if rule.holds(position)), None)
    if rule is None:
        return _why_not(position, input)
    return Move(_after(position, rule, about), rule.effects, rule.ends)


BY_INPUT: Mapping[Input, tuple[Rule, ...]] = {
    input: tuple(rule for rule in RULES if rule.input is input) for input in Input
}


def _refused(position: Position, input: Input, about: str) -> Refusal | None:
    if input in INTERNAL:
        return None
    if input in NEW:
        return Refusal.SEEN if about in position.seen else None
    if input in (Input.REPLY, Input.CANCEL):
        return None if about == position.turn_id and not position.stopping else Refusal.STALE
    return None if about in position.waits_for else Refusal.STALE


def _why_not(position: Position, input: Input) -> Refusal:
    if input is Input.IDLE:
        return Refusal.UNDER_WAY
    if input is Input.ROLLBACK and position.state is not None:
        return Refusal.BUSY
    return Refusal.NOT_POSSIBLE


def _after(position: Position, rule: Rule, about: str) -> Position:
    """Return the position after a rule; effects add what the turn waits for when they run."""
    if rule.ends:
        return replace(position, state=None, turn_id=None, stopping=False, waits_for=frozenset())
    begins = Effect.BEGIN_TURN in rule.effects
    return replace(
        position,
        state=rule.to or position.state,
        turn_id=about if begins else position.turn_id,
        stopping=position.stopping or rule.stops,
        waits_for=position.waits_for - {about},
        seen=position.seen | {about} if rule.input in NEW else position.seen,
    )
