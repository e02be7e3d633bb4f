"""Policy in process: Rego evaluated by regopy, compiled once and asked by entry point.

A decision takes well under a millisecond, so it is made where it is asked instead of in a thread. A rule cannot be
interrupted; an answer that comes after the deadline is not used.

The same question under the same revision has the same answer, so answers are remembered, by those parts of the input
that the rules can see at all (`libs.policy.sight`).
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path

import regopy

from libs.policy.bundle import Bundle, BundleBroken, BundleUntried, try_apart
from libs.policy.ports import ENTRYPOINT, Decision, Json, PolicyUnanswered, answer, question
from libs.policy.sight import Sight

REMEMBERED_MOST = 4_096
"""Answers of one revision that are kept."""


class Compiled:
    """One bundle, ready to be asked. The engine keeps the question inside itself, so one at a time."""

    def __init__(self, bundle: Bundle) -> None:
        self.revision = bundle.revision
        self._one_at_a_time = threading.Lock()
        self._engine = regopy.Interpreter()
        self._engine.log_level = regopy.LogLevel.NONE
        # Without this a builtin that fails is undefined, and the negation of undefined is a yes.
        self._engine.strict_built_in_errors = True
        for name, source in bundle.modules:
            self._engine.add_module(name, source)
        self._engine.add_data_json(bundle.data)
        self._rules = self._engine.build(None, [ENTRYPOINT])
        self._sight = Sight.of(source for _, source in bundle.modules)
        self._answers: OrderedDict[bytes, object] = OrderedDict()

    def ask(self, document: Mapping[str, Json]) -> object:
        """The value of the entry point, or None where it has none. Raises PolicyUnanswered when evaluation fails."""
        seen = self._sight.key(document)
        if seen is None:
            return self._evaluated(document)
        if seen not in self._answers:
            self._answers[seen] = self._evaluated(document)
            if len(self._answers) > REMEMBERED_MOST:
                self._answers.popitem(last=False)
        return self._answers[seen]

    def _evaluated(self, document: Mapping[str, Json]) -> object:
        try:
            with self._one_at_a_time:
                self._engine.set_input(_spelled(document))
                output = self._engine.query_bundle_entrypoint(self._rules, ENTRYPOINT)
                ok, results = output.ok(), output.results
        except (regopy.RegoError, ValueError) as failed:
            raise PolicyUnanswered("The policy engine failed while it evaluated.") from failed
        if not ok:
            raise PolicyUnanswered("The policy engine reported an error.")
        return results[0].expressions[0] if len(results) == 1 and len(results[0].expressions) == 1 else None


class RegoPolicy:
    """The bundle in `folder`, in force from the first `reload` that finds it sound.

    `deadline` is in seconds; an answer that took longer counts as none. `monotonic` is the clock that measures it.
    """

    def __init__(
        self, folder: Path, *, deadline: float = 0.25, monotonic: Callable[[], float] = time.perf_counter
    ) -> None:
        self._folder = folder
        self._deadline = deadline
        self._monotonic = monotonic
        self._law: Compiled | None = None
        self._problem: str | None = "No policy bundle was read yet."
        self._refused = ("", "")
        self._reading = asyncio.Lock()

    @property
    def revision(self) -> str:
        return self._law.revision if self._law else ""

    @property
    def problem(self) -> str | None:
        return self._problem

    async def decide(self, action: str, input: Mapping[str, Json]) -> Decision:
        document = question(action, input)
        law = self._law
        if law is None:
            raise PolicyUnanswered(self._problem or "")
        asked = self._monotonic()
        result = law.ask(document)
        if self._monotonic() - asked > self._deadline:
            raise PolicyUnanswered("The policy engine answered too late.")
        return answer(action, result, revision=law.revision)

    async def reload(self) -> bool:
        async with self._reading:
            try:
                fresh = await asyncio.to_thread(self._fresh)
            except BundleBroken as broken:
                self._problem = str(broken)
                return False
            self._problem = None
            if fresh is None:
                return False
            self._law = fresh
            return True

    def _fresh(self) -> Compiled | None:
        """The bundle on disk, tried and compiled; None when it is the one in force."""
        bundle = Bundle.read(self._folder)
        if bundle.revision == self.revision:
            return None
        self._try(bundle)
        try:
            return Compiled(bundle)
        except (regopy.RegoError, ValueError) as broken:
            raise BundleBroken("The policy bundle does not compile.") from broken

    def _try(self, bundle: Bundle) -> None:
        """A trial costs a process, and readiness asks often: a bundle that was found broken is so without another."""
        revision, reason = self._refused
        if bundle.revision == revision:
            raise BundleBroken(reason)
        try:
            try_apart(bundle)
        except BundleUntried:
            raise
        except BundleBroken as broken:
            self._refused = bundle.revision, str(broken)
            raise


def _spelled(value: Json) -> Json:
    """Text as regopy takes it: it copies strings into the program unescaped, cut at a NUL, so hand over their JSON
    spelling. (Measured: without this `a"b` never equals "a\\"b", and `shell\\0x` equals "shell".)"""
    match value:
        case str():
            return value if value.isalnum() else json.dumps(value, ensure_ascii=False)[1:-1]
        case Mapping():
            return {_spelled(key): _spelled(item) for key, item in value.items()}
        case list() | tuple():
            return [_spelled(item) for item in value]
        case _:
            return value
