"""A policy decision in process, beside the same bundle asked of regopy with nothing around it."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import regopy
from rich.text import Text

from libs.policy.bundle import Bundle
from libs.policy.ports import ENTRYPOINT
from libs.policy.rego import RegoPolicy
from tests.benchmarks.rows import Row, most
from tests.conformance.policy.cases import READ

BUNDLE = Path(__file__).resolve().parents[2] / "deploy" / "opa"
EACH = 100
QUESTION = {"principal": {"id": "ada", "scopes": ["*"]}, "session": "s1", "turn": "t1", **READ}


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    rounds = 5 if quick else 30
    policy = RegoPolicy(BUNDLE, deadline=5.0)
    await policy.reload()
    raw, numbers = _raw(), itertools.count()
    new: list[float] = []
    known: list[float] = []
    theirs: list[float] = []
    for n in range(rounds):
        tell(f"decisions, round {n + 1} of {rounds}")
        # The tenant is seen by the rules: a question of another tenant is another question.
        asked = [{**QUESTION, "tenant": f"t{next(numbers)}"} for _ in range(EACH)]
        theirs.append(_timed(lambda: [raw(question) for question in asked]))  # noqa: B023 - called at once
        for times in (new, known):
            began = time.perf_counter()
            for question in asked:
                assert (await policy.decide("tool.execute", question)).allowed
            times.append(time.perf_counter() - began)
    micros = [statistics.median(times) / EACH * 1e6 for times in (new, known, theirs)]
    return [
        Row("policy decision, a new question", micros[0], "µs", "raw regopy", micros[2], most(1.3)),
        Row("policy decision, a question asked before", micros[1], "µs", "raw regopy", micros[2], most(1.3)),
    ], Text()


def _raw() -> Callable[[dict[str, Any]], Any]:
    bundle = Bundle.read(BUNDLE)
    engine = regopy.Interpreter()
    for name, source in bundle.modules:
        engine.add_module(name, source)
    engine.add_data_json(bundle.data)
    rules = engine.build(None, [ENTRYPOINT])

    def ask(question: dict[str, Any]) -> Any:
        engine.set_input({"action": "tool.execute", **question})
        return engine.query_bundle_entrypoint(rules, ENTRYPOINT).results[0].expressions[0]

    return ask


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
