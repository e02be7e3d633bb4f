"""A model of everything around a turn's state machine: services, people, the mailbox and the slots.

It runs the effects of each move as the worker does, in every way in which they can go, so that `Exploration` finds
each position that a conversation can reach. What is waited for has an id. A new one ends with "+", so that a repeat of
the old one can be told from it, and is renamed before the next step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count

from services.conversation_worker.turn.state import TurnState
from services.conversation_worker.turn.transitions import (
    BUSY,
    RULES,
    Effect,
    Input,
    Move,
    Position,
    Refusal,
    Rule,
    decide,
)

WORK, PLAN, CALL, QUESTION, FINDING, SLOT = "work", "plan", "call", "question", "finding", "slot"
"""What a turn, or a message, waits for."""
TURN, NEW = "turn", "new"
CALLS_MOST, QUEUE_MOST = 2, 2
"""Calls whose outcome is open, and messages in the mailbox: one more than one."""

ANSWERS: Mapping[Effect, tuple[str, tuple[Input, ...]]] = {
    Effect.GATHER_CONTEXT: (WORK, (Input.CONTEXT_GATHERED, Input.WORK_FAILED)),
    Effect.WRITE_ANSWER: (WORK, (Input.ANSWER_WRITTEN, Input.WORK_FAILED)),
    Effect.ASK_CLARIFICATION: (WORK, (Input.CLARIFICATION_EXPIRED,)),
    Effect.REQUEST_PLAN: (
        PLAN,
        (Input.PLAN_APPROVED, Input.PLAN_ANSWERED, Input.PLAN_REJECTED, Input.PLAN_UNCLEAR),
    ),
    Effect.WAIT_FOR_SLOT: (SLOT, (Input.SLOT_FREE,)),
}
"""What an effect makes the turn wait for, and the inputs that answer it."""
SENT: Mapping[Input, tuple[Input, ...]] = {
    Input.COMMIT_SENT: (Input.COMMITTED, Input.NOT_COMMITTED, Input.COMMIT_REFUSED),
    Input.DROP_SENT: (Input.DROPPED,),
    Input.ROLLBACK_SENT: (Input.ROLLED_BACK, Input.NOT_ROLLED_BACK),
    Input.RESTORE: (Input.RESTORED,),
}
"""The inputs that answer a request to the executor."""
DECISION, FINDINGS = (Input.APPROVAL_DECIDED, Input.APPROVAL_EXPIRED), (Input.EFFECT_RESOLVED, Input.EFFECT_EXPIRED)


EMPTY = Position()


@dataclass(frozen=True, slots=True)
class World:
    position: Position = EMPTY
    pending: frozenset[tuple[str, tuple[Input, ...]]] = frozenset()
    """What is waited for, by id, and the inputs that may answer it."""
    queue: tuple[str, ...] = ()

    def waits(self, kind: str) -> bool:
        return any(id.startswith(kind) for id, _ in self.pending)

    def wait(self, kind: str, inputs: tuple[Input, ...]) -> World:
        """Wait for one more answer; a slot answers to no turn."""
        pending = self.pending | {(f"{kind}+", inputs)}
        if kind == SLOT:
            return replace(self, pending=pending)
        known = replace(self.position, waits_for=self.position.waits_for | {f"{kind}+"})
        return replace(self, pending=pending, position=known)

    def forget(self, *kinds: str) -> World:
        """Wait no more for these."""
        kept = frozenset(each for each in self.pending if not each[0].startswith(kinds))
        if kept == self.pending:
            return self
        gone = {id for id, _ in self.pending - kept}
        return replace(self, pending=kept, position=replace(self.position, waits_for=self.position.waits_for - gone))

    def know(self, **facts: bool) -> World:
        return replace(self, position=replace(self.position, **facts))  # type: ignore[arg-type]

    def settled(self) -> World:
        """Return the same world with the names that it has before a step."""
        names, free = {}, {CALL: count(), FINDING: count()}
        for id, _ in sorted(self.pending):
            kind = id.rstrip("+0123456789")
            names[id] = f"{kind}{next(free[kind])}" if kind in free else kind
        queue = tuple(f"message{place}" for place in range(len(self.queue)))
        turn = TURN if self.position.state is not None else None
        position = replace(
            self.position,
            turn_id=turn,
            waits_for=frozenset(names[id] for id in self.position.waits_for),
            seen=frozenset((*queue, TURN)) if turn else frozenset(queue),
        )
        return World(position, frozenset((names[id], inputs) for id, inputs in self.pending), queue)


@dataclass(frozen=True, slots=True)
class Step:
    """One input, what the machine answers, and a world that may follow."""

    start: World
    position: Position
    """The world's position, as the machine saw it: with a slot and room, or without."""
    input: Input
    about: str
    move: Move | Refusal
    after: World

    @property
    def is_answer(self) -> bool:
        return (self.about, self.input) in {(id, each) for id, inputs in self.start.pending for each in inputs}


class Exploration:
    """Every world that can be reached from an empty one, with all that can happen in it."""

    def __init__(self) -> None:
        self.found: dict[World, tuple[Step, ...]] = {}
        self.fired: set[Rule] = set()
        ahead = [World()]
        while ahead:
            world = ahead.pop()
            if world not in self.found:
                self.found[world] = tuple(self._steps(world))
                ahead.extend(step.after.settled() for step in self.found[world])

    @property
    def steps(self) -> Iterator[Step]:
        return chain.from_iterable(self.found.values())

    def _decide(self, position: Position, input: Input, about: str = "") -> Move | Refusal:
        move = decide(position, input, about)
        if isinstance(move, Move):
            self.fired.update(rule for rule in RULES if rule.input is input and rule.holds(position))
        return move

    def _steps(self, world: World) -> Iterator[Step]:
        """Return everything that can happen next."""
        for id, inputs in sorted(world.pending):
            for input in inputs:
                yield from self._step(world, world.position, input, id)
        now = world.position
        for slot in (True, False) if now.state is None and not world.queue else (False,):
            for room in (True, False) if len(world.queue) < QUEUE_MOST else (False,):
                yield from self._step(world, replace(now, slot=slot, room=room), Input.MESSAGE, NEW)
        yield from self._step(world, now, Input.ROLLBACK, NEW)
        yield from self._step(world, now, Input.RESTORE, NEW)
        if now.turn_id is not None:
            yield from self._step(world, now, Input.REPLY, now.turn_id)
            yield from self._step(world, now, Input.CANCEL, now.turn_id)
            yield from self._step(world, now, Input.LOST, "")

    def _step(self, world: World, position: Position, input: Input, about: str) -> Iterator[Step]:
        if input is Input.SLOT_FREE and not world.queue:
            # Nobody asks the machine then.
            return
        move = self._decide(position, input, about)
        if isinstance(move, Refusal):
            # A slot is offered once; the queue is looked at again when the turn under way ends.
            after = world.forget(SLOT) if input is Input.SLOT_FREE else world
            yield Step(world, position, input, about, move, after)
            return
        for after in self._moved(replace(world, position=position), input, about, move):
            yield Step(world, position, input, about, move, after)

    def _moved(self, world: World, input: Input, about: str, move: Move) -> Iterator[World]:
        pending = frozenset(each for each in world.pending if each[0] != about)
        after = replace(world, position=replace(move.position, slot=True, room=True), pending=pending)
        after = after.know(calls=after.waits(CALL))
        if after.position.state is not TurnState.THINKING:
            after = after.forget(PLAN)
        if move.ends:
            yield from self._ended(after)
            return
        for found in _facts(world, after, input):
            yield from self._run_all(found, move.effects, input, about)

    def _ended(self, world: World) -> Iterator[World]:
        """The turn is over: what it waited for is stale, and the next message begins, or waits for a slot."""
        slots = frozenset(each for each in world.pending if each[0].startswith(SLOT))
        over = World(Position(seen=world.position.seen, queued=bool(world.queue)), slots, world.queue)
        if over.queue:
            yield over.wait(*ANSWERS[Effect.WAIT_FOR_SLOT])
            yield from self._internal(over, Input.SLOT_FREE)
        else:
            yield over

    def _internal(self, world: World, input: Input) -> Iterator[World]:
        """Give the machine an input that follows from an effect, which it must take."""
        move = self._decide(world.position, input)
        assert isinstance(move, Move), f"{input} is refused ({move}) in {world.position}"
        yield from self._moved(world, input, "", move)

    def _run_all(self, world: World, effects: tuple[Effect, ...], input: Input, about: str) -> Iterator[World]:
        if not effects:
            yield world
            return
        for after in self._run(world, effects[0], input, about):
            yield from self._run_all(after, effects[1:], input, about)

    def _run(self, world: World, effect: Effect, input: Input, about: str) -> Iterator[World]:
        match effect:
            case Effect.BEGIN_TURN:
                first, *rest = world.queue if input is Input.SLOT_FREE else (about, *world.queue)
                begun = replace(world, position=replace(world.position, turn_id=first), queue=tuple(rest))
                yield begun.know(incomplete=False, staged=False, asking=False, queued=bool(rest))
            case Effect.QUEUE_MESSAGE:
                yield replace(world, queue=(*world.queue, about)).know(queued=True)
            case Effect.TAKE_CLARIFICATION | Effect.END_WAIT:
                yield world.forget(WORK)
            case Effect.CANCEL_WORK | Effect.CANCEL_CALLS:
                # Its end is still reported.
                yield world
            case Effect.REFUSE_MESSAGE:
                yield world
            case Effect.ADVANCE:
                yield from self._advance(world)
            case Effect.APPLY_DECISION:
                yield from self._apply(world, input)
            case Effect.STOP:
                yield from self._internal(world.forget(QUESTION).know(asking=False), Input.STOP)
            case Effect.FINISH:
                idle = isinstance(self._decide(world.position, Input.IDLE), Move)
                yield from self._internal(world, Input.IDLE) if idle else (world,)
            case Effect.SEND_DROP:
                yield from self._internal(world, Input.DROP_SENT)
            case Effect.SEND_ROLLBACK:
                yield from self._internal(world, Input.ROLLBACK_SENT)
                yield from self._internal(world, Input.CALL_REFUSED)
            case Effect.ASK_COMMIT:
                yield from (asked.wait(QUESTION, DECISION) for asked in self._internal(world, Input.COMMIT_ASKED))
                yield from self._internal(world, Input.CALL_REFUSED)
            case Effect.COMPLETE | Effect.END_TURN:
                yield from self._internal(world, Input.END)
            case _:
                yield world.wait(*ANSWERS[effect])

    def _advance(self, world: World) -> Iterator[World]:
        """Steps run, ask a person, wait for others, exceed a limit, or have all ended."""
        if world.position.stopping:
            yield from self._run(world, Effect.FINISH, Input.IDLE, "")
            return
        if world.waits(FINDING):
            yield world
            return
        yield from self._run(world, Effect.STOP, Input.STOP, "")
        yield from _tried(world)
        if world.waits(CALL) or world.waits(QUESTION):
            yield world
        else:
            for incomplete in (False, True):
                yield from self._internal(world.know(incomplete=incomplete, asking=False), Input.ROUND_ENDED)

    def _apply(self, world: World, input: Input) -> Iterator[World]:
        """A person has decided, or did not in time."""
        if world.position.state is TurnState.ACTING:
            decided = world.know(asking=False)
            yield from self._advance(decided)
            if input is Input.APPROVAL_DECIDED:
                yield from _tried(decided)
        elif input is Input.APPROVAL_EXPIRED:
            yield from self._run(world, Effect.STOP, Input.STOP, "")
        else:
            yield from self._internal(world, Input.COMMIT_SENT)
            yield from self._internal(world, Input.CALL_REFUSED)
            yield from self._internal(world, Input.DROP_SENT)
            # What was shown has changed since.
            yield from self._run(world, Effect.ASK_COMMIT, input, "")


def _facts(before: World, world: World, input: Input) -> Iterable[World]:
    """Return the worlds that an input may leave before its effects run."""
    match input:
        case Input.STEP_ENDED:
            yield world.know(staged=True)
            yield world
            yield world.wait(FINDING, FINDINGS if not world.position.stopping else FINDINGS[:1])
        case Input.COMMITTED | Input.DROPPED:
            yield world.know(staged=False)
        case Input.RESTORE:
            yield world.forget(QUESTION).wait(WORK, SENT[input])
        case Input.RESTORED:
            yield world.know(asking=False)
            yield world.know(asking=False, staged=False)
        case Input.EFFECT_EXPIRED:
            # The question stays open after its wait.
            yield world.wait(FINDING, FINDINGS[:1])
        case Input.LOST:
            world = world.forget(CALL).know(calls=False)
            busy = before.position.state in BUSY
            yield world.forget(WORK).know(staged=False) if busy else world
        case Input.COMMIT_SENT | Input.DROP_SENT | Input.ROLLBACK_SENT:
            yield world.wait(WORK, SENT[input])
        case _:
            yield world


def _tried(world: World) -> Iterator[World]:
    """A step runs, or asks a person."""
    if sum(id.startswith((CALL, FINDING)) for id, _ in world.pending) < CALLS_MOST:
        yield world.wait(CALL, (Input.STEP_ENDED,)).know(calls=True)
    if not world.waits(QUESTION):
        yield world.wait(QUESTION, DECISION).know(asking=True)
