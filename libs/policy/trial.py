"""A bundle's trial, in a process of its own: `python trial.py < bundle.json` prints the fields that its rules read.

The Rego engine, in C++, ends its process on some broken modules instead of raising, and a rule may run for ever.
Neither may affect the platform when a bad file is saved, so each bundle is tried here first. This file is run by its
path, imports nothing of the project, and reads {"modules": [[name, source]], "data": text, "entrypoint": rule}.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import regopy

INPUT = 0
"""The plan's local variable that holds the question."""
FUNCTIONS = frozenset(
    """abs and array.concat array.reverse array.slice ceil concat contains count div endswith eq equal floor format_int
    glob.match gt gte indexof internal.member_2 internal.member_3 intersection is_array is_boolean is_null is_number
    is_object is_set is_string lower lt lte max min minus mul neq net.cidr_contains numbers.range object.get object.keys
    object.union or plus product regex.match rem replace round sort split sprintf startswith strings.any_prefix_match
    substring sum to_number trim trim_left trim_prefix trim_right trim_space trim_suffix union upper""".split()  # noqa: SIM905 -- a list would be as many lines
)
"""Deterministic builtins. Answers of a rule that calls another one are not cached."""
COUNTS = frozenset({"file", "row", "col", "index", "capacity"})
"""Numbers in a plan that do not refer to local variables."""


class Broken(Exception):
    """The bundle must not be activated."""


def trial(candidate: dict[str, Any]) -> list[str] | None:
    """Return the question's fields that the rules read; None where they may read all of it, or outside data.

    Raises:
        Broken: it does not build, calls builtins that the engine does not know, or does not deny an empty question.
    """
    engine = regopy.Interpreter()
    engine.log_level = regopy.LogLevel.NONE
    # As in `rego`: otherwise a failing builtin is undefined, and the negation of undefined is true.
    engine.strict_built_in_errors = True
    for name, source in candidate["modules"]:
        engine.add_module(name, source)
    engine.add_data_json(candidate["data"])
    compiled = engine.build(None, [candidate["entrypoint"]])
    engine.set_input({})
    output = engine.query_bundle_entrypoint(compiled, candidate["entrypoint"])
    if not output.ok():
        raise Broken("the rules fail on an empty question")
    results = [result.expressions for result in output.results]
    if not (len(results) == 1 and len(results[0]) == 1 and isinstance(results[0][0], dict)):
        raise Broken(f"{candidate['entrypoint']} is not a decision")
    # Rules that allow a question without facts would allow any.
    if results[0][0].get("allowed") is not False:
        raise Broken("the rules do not deny an empty question")
    plan = planned(engine, compiled)
    if unknown := sorted(name for name in called(plan) if not engine.is_builtin(name)):
        raise Broken(f"the engine does not know {', '.join(unknown)}")
    return fields_read(plan) if called(plan) <= FUNCTIONS else None


def planned(engine: regopy.Interpreter, compiled: regopy.Bundle) -> dict[str, Any]:
    """Return the engine's plan of a compiled bundle: OPA's intermediate representation."""
    with tempfile.TemporaryDirectory() as folder:
        engine.save_bundle(folder + "/bundle", compiled)
        plan: dict[str, Any] = json.loads(Path(folder, "bundle", "plan.json").read_bytes())
    return plan


def called(plan: dict[str, Any]) -> set[str]:
    """Return the names of the builtins that a plan calls."""
    return {builtin["name"] for builtin in plan["static"].get("builtin_funcs", [])}


def fields_read(plan: dict[str, Any]) -> list[str] | None:
    """Return the names of the question's top-level fields that the plan reads; None if it uses the question otherwise.

    Two uses are known: a field by a constant name, and a rule that receives the question as its own input.
    """
    rules = {rule["name"] for rule in plan["funcs"]["funcs"] if rule["params"][:1] == [INPUT]}
    strings = plan["static"]["strings"]
    fields: set[str] = set()
    for kind, statement in statements([plan["plans"], [rule["blocks"] for rule in plan["funcs"]["funcs"]]]):
        if kind == "DotStmt" and uses(statement["source"]) and statement["key"]["type"] == "string_index":
            fields.add(strings[statement["key"]["value"]]["value"])
            statement = {**statement, "source": None}
        elif kind == "CallStmt" and statement["func"] in rules:
            statement = {**statement, "args": statement["args"][1:]}
        elif kind == "MakeNumberIntStmt":
            statement = {**statement, "value": None}
        if any(uses(value) for name, value in statement.items() if name not in COUNTS):
            return None
    return sorted(fields)


def statements(tree: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every statement of a plan with its kind, including nested ones."""
    if isinstance(tree, dict) and "stmt" in tree:
        yield tree["type"], tree["stmt"]
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from statements(part)


def uses(operand: Any) -> bool:
    """Return whether an operand, or one of several, names the question's local. Nested statements are checked
    separately.
    """
    match operand:
        case {"type": "local", "value": value}:
            return bool(value == INPUT)
        case [*operands]:
            return any(uses(each) for each in operands)
        # `False` equals 0, the number of the question's local.
        case int() if not isinstance(operand, bool):
            return operand == INPUT
    return False


def main() -> int:
    problem = ""
    try:
        json.dump(trial(json.load(sys.stdin)), sys.stdout)
    except Broken as broken:
        problem = str(broken)
    except (regopy.RegoError, ValueError, AttributeError) as broken:
        found = re.findall(r"\(errormsg \S+?:([^)]*)\)", str(broken))
        problem = "; ".join(dict.fromkeys(found)) or "the rules do not compile"
    if problem:
        # On a line of its own: the engine may have written there, and the caller reads the last line.
        sys.stderr.write("\n" + problem)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
