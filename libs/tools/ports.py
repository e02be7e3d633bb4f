"""Tools that are not the workspace's: what each declares about its effect, and what that class demands of it.

An effect is anything that happens outside Suma's own Postgres, where its transactions do not reach. A process can be
killed between the effect and its record, or be stopped there and wake after another has taken the work over. So that
one intent still has one effect, a tool names its class, and keeps the promise of that class (architecture.md 11,
decision 0017).

**The intent** is written before the effect and carries `id`, which is the same in every attempt, and `attempt`, which
is higher in each. No two attempts share a number, and no attempt is begun after a higher one has been. But an attempt
that was begun may be stopped in its middle, and go on after higher ones have ended: a *late* attempt.

**Errors.** `Rejected`: it did not happen, by no attempt, and will not. `Unavailable`: this attempt did nothing; it may
be tried again. Anything else (another exception, a timeout, a cancel, a crash) leaves the effect in doubt, and the
class decides what follows.

| class | in doubt | what the tool promises |
|---|---|---|
| pure | run again | it has no effect |
| idempotent | run again | a second run with the same `id` has no further effect and answers as the first did |
| reconcilable | `probe`, then run if it says None | `probe`'s None is final (below) |
| compensable | `undo`, then run again | after `undo` no lower attempt takes effect (below) |
| at_most_once | never run again: it is *unknown*, and a person is asked | nothing |

**Late attempts.** Every tool asks `valid()` right before its effect and raises `Unavailable` when it is false: that
stops a process that woke before the question. One that is stopped between the answer and the effect can be stopped
only by the world: a `probe` that says None, and an `undo`, must leave something there that refuses the effect of this
intent to every lower attempt. In a database that is a row `(intent, attempt)`: each verb raises it to its own attempt
and does its work in the same transaction, or does nothing when the row holds a higher one. That goes for `undo` too:
a late one must not take back what a higher attempt has made since.
A world that can hold nothing of the kind, such as most mail servers, is not reconcilable and not compensable: its tools
are at_most_once, or idempotent where it takes a key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from libs.events.values import EffectClass

Json = Any

Effect: TypeAlias = EffectClass
"""The class. `staged` belongs to the workspace, whose commit has its own journal; no tool here declares it."""


@dataclass(frozen=True, slots=True)
class Intent:
    """An effect that must happen once."""

    id: str
    """SHA-256 over tenant, session, step, tool and args: the key that the outside system sees. The same intent is the
    same effect, however often it is requested; that of another step is another.
    """
    tenant: str
    session: str
    turn: str
    step: str
    tool: str
    args: Mapping[str, Json]
    attempt: int
    """From 1; higher in every further attempt to run, probe or undo, with gaps."""
    valid: Callable[[], bool]
    """Whether this attempt may still act. Called right before the effect, from any thread; once false it stays false.
    """


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result. `data` is JSON; later steps may refer to its fields."""

    data: Json
    summary: str


class Tool(Protocol):
    """A tool of any class; stateless, and used for all tenants concurrently.

    Attributes:
        name: `family.verb`, unique among all tools of the platform.
        description: one sentence for planners and people.
        parameters: the JSON Schema of `args`, an object.
        effect: the class. A reconcilable tool is a `Reconcilable`, a compensable one a `Compensable`, or it is refused
            when the platform starts.

    Optional:
        returns: the fields of `Outcome.data` with their JSON Schemas; later steps may refer to these.
        leaves_machine: False where its args never leave this machine. By default they are assumed to, and a person
            sees what leaves (architecture.md 9).
        costs_money: True where a call is charged for; a committee then reviews each plan with it. False by default.
    """

    name: str
    description: str
    parameters: Mapping[str, Json]
    effect: Effect

    async def run(self, intent: Intent) -> Outcome:
        """Produce the effect and return its result. A cancel may arrive at any await.

        Raises:
            Rejected: it did not happen and will not; the message is for the person who asked.
            Unavailable: this attempt did nothing; it is retried.
        """
        ...


class Reconcilable(Tool, Protocol):
    """A tool that can ask the outside system whether its effect happened."""

    async def probe(self, intent: Intent) -> Outcome | None:
        """Return the result; None when it did not happen, and will not by any lower attempt.

        Do not return None while a lower attempt can still take effect: where the outside system cannot refuse it, and
        it is not certain to be over, raise `Unavailable`.

        Raises:
            Unavailable: it cannot be determined now; it is asked again, and after a bound the effect is unknown.
        """
        ...


class Compensable(Tool, Protocol):
    """A tool whose effect can be undone by its intent's id."""

    async def undo(self, intent: Intent) -> None:
        """Undo what lower attempts did, and make sure that none does anything from now on.

        Undoing what never happened is a no-op that leaves the same refusal behind. It may be repeated. The effect of a
        higher attempt stays: this one is then late itself.

        Raises:
            Unavailable: it could not be undone now; it is retried, and after a bound the effect is unknown.
        """
        ...
