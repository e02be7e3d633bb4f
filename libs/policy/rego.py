"""The adapter in process: Rego evaluated by regopy, compiled once and queried by entry point.

A decision takes well under a millisecond, so it runs in the calling thread. A rule cannot be interrupted; the answer
of one that computes past the deadline is not used. Only its own computing counts: on a busy machine the thread may wait
for a processor as long as it likes, and the answer is no worse.

The same question under the same revision has the same answer, so answers are cached, keyed by the fields that the rules
read (`libs.policy.cache_key`).
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
from libs.policy.cache_key import cache_key
from libs.policy.ports import ENTRYPOINT, Decision, Json, PolicyUnanswered, answer, counted, counting_silence, question

REMEMBERED_MOST = 4_096
"""Most cached answers of one revision."""


class Compiled:
    """A compiled bundle. The engine keeps the question in itself, so a lock admits one at a time.

    `read` holds the question's fields that the rules read; None means that answers must not be cached.
    """

    def __init__(self, bundle: Bundle, read: frozenset[str] | None) -> None:
        self.revision = bundle.revision
        self._one_at_a_time = threading.Lock()
        self._engine = regopy.Interpreter()
        self._engine.log_level = regopy.LogLevel.NONE
        # Otherwise a failing builtin is undefined, and the negation of undefined is true.
        self._engine.strict_built_in_errors = True
        for name, source in bundle.modules:
            self._engine.add_module(name, source)
        self._engine.add_data_json(bundle.data)
        self._rules = self._engine.build(None, [ENTRYPOINT])
        self._read = read
        self._answers: OrderedDict[bytes, object] = OrderedDict()

    def ask(self, document: Mapping[str, Json]) -> object:
        """Return the value of the entry point, or None where it has none. Raises PolicyUnanswered when evaluation
        fails.
        """
        seen = cache_key(self._read, document)
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
                self._engine.set_input(_json_spelled(document))
                output = self._engine.query_bundle_entrypoint(self._rules, ENTRYPOINT)
                ok, results = output.ok(), output.results
        except (regopy.RegoError, ValueError) as failed:
            raise PolicyUnanswered("The policy engine failed during evaluation.") from failed
        if not ok:
            raise PolicyUnanswered("The policy engine reported an error.")
        # Anything but one value is no decision, which `answer` reads as a denial.
        return results[0].expressions[0] if len(results) == 1 and len(results[0].expressions) == 1 else None


class RegoPolicy:
    """The policy of the bundle in `folder`, active from the first successful `reload`.

    `deadline` is in seconds of the thread's computing; a later answer is not used. `clock` measures them.
    """

    def __init__(self, folder: Path, *, deadline: float = 0.25, clock: Callable[[], float] = time.thread_time) -> None:
        self._folder = folder
        self._deadline = deadline
        self._clock = clock
        self._compiled: Compiled | None = None
        self._problem: str | None = "No policy bundle has been read yet."
        self._refused = ("", "")
        self._reading = asyncio.Lock()

    @property
    def revision(self) -> str:
        return self._compiled.revision if self._compiled else ""

    @property
    def problem(self) -> str | None:
        return self._problem

    async def decide(self, action: str, input: Mapping[str, Json]) -> Decision:
        document = question(action, input)
        with counting_silence(action):
            return counted(self._decided(action, document))

    def _decided(self, action: str, document: dict[str, Json]) -> Decision:
        compiled = self._compiled
        if compiled is None:
            raise PolicyUnanswered(self._problem or "")
        asked = self._clock()
        result = compiled.ask(document)
        if self._clock() - asked > self._deadline:
            raise PolicyUnanswered("The policy engine answered too late.")
        return answer(action, result, revision=compiled.revision)

    async def reload(self) -> bool:
        # One at a time: of two reloads the later one must have read the later bundle.
        async with self._reading:
            try:
                # In a thread: the trial waits for another process.
                fresh = await asyncio.to_thread(self._fresh)
            except BundleBroken as broken:
                # The active bundle stays.
                self._problem = str(broken)
                return False
            self._problem = None
            if fresh is None:
                return False
            self._compiled = fresh
            return True

    def _fresh(self) -> Compiled | None:
        """Return the bundle on disk, tried and compiled; None when it is the active one."""
        bundle = Bundle.read(self._folder)
        if bundle.revision == self.revision:
            return None
        read = self._try(bundle)
        try:
            return Compiled(bundle, read)
        except (regopy.RegoError, ValueError) as broken:
            raise BundleBroken("The policy bundle does not compile.") from broken

    def _try(self, bundle: Bundle) -> frozenset[str] | None:
        """Try the bundle, unless its revision was refused before: a trial costs a process, and readiness checks are
        frequent.
        """
        revision, reason = self._refused
        if bundle.revision == revision:
            raise BundleBroken(reason)
        try:
            return try_apart(bundle)
        # Not remembered: another trial may end with a result.
        except BundleUntried:
            raise
        except BundleBroken as broken:
            self._refused = bundle.revision, str(broken)
            raise


def _json_spelled(value: Json) -> Json:
    r"""Return strings in their JSON spelling: regopy copies them into the program unescaped, and cuts them at a NUL.

    Measured: without this `a"b` never equals "a\"b", and `shell\0x` equals "shell".
    """
    match value:
        case str():
            return value if value.isalnum() else json.dumps(value, ensure_ascii=False)[1:-1]
        case Mapping():
            return {_json_spelled(key): _json_spelled(item) for key, item in value.items()}
        case list() | tuple():
            return [_json_spelled(item) for item in value]
        case _:
            return value
