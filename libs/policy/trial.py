"""A bundle's trial, in a process of its own: `python trial.py < bundle.json`, silent when all is well.

Rego's engine in C++ ends its process on some broken modules instead of raising, and a rule may run for ever; neither
may happen to us because someone saved a file. So a bundle is tried here before it is let in. This file is run by its
path, imports nothing of ours, and reads {"modules": [[name, source]], "data": text, "entrypoint": rule}.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import regopy


def trial(candidate: dict[str, Any]) -> str | None:
    """What is wrong with a bundle, or None: it builds, knows its builtins, and answers an empty question with a no."""
    engine = regopy.Interpreter()
    engine.log_level = regopy.LogLevel.NONE
    engine.strict_built_in_errors = True
    for name, source in candidate["modules"]:
        engine.add_module(name, source)
    engine.add_data_json(candidate["data"])
    compiled = engine.build(None, [candidate["entrypoint"]])
    engine.set_input({})
    output = engine.query_bundle_entrypoint(compiled, candidate["entrypoint"])
    if not output.ok():
        return "the rules fail on an empty question"
    results = [result.expressions for result in output.results]
    if not (len(results) == 1 and len(results[0]) == 1 and isinstance(results[0][0], dict)):
        return f"{candidate['entrypoint']} is not a decision"
    if results[0][0].get("allowed") is not False:
        return "the rules do not refuse an empty question"
    if unknown := sorted(name for name in builtins(engine, compiled) if not engine.is_builtin(name)):
        return f"the engine does not know {', '.join(unknown)}"
    return None


def builtins(engine: regopy.Interpreter, compiled: regopy.Bundle) -> set[str]:
    """The names of the builtins that a compiled bundle calls."""
    with tempfile.TemporaryDirectory() as folder:
        engine.save_bundle(folder + "/bundle", compiled)
        plan = json.loads(Path(folder, "bundle", "plan.json").read_bytes())
    return {builtin["name"] for builtin in plan["static"].get("builtin_funcs", [])}


def main() -> int:
    try:
        problem = trial(json.load(sys.stdin))
    except (regopy.RegoError, ValueError, AttributeError) as broken:
        found = re.findall(r"\(errormsg \S+?:([^)]*)\)", str(broken))
        problem = "; ".join(dict.fromkeys(found)) or "the rules do not compile"
    if problem:
        sys.stderr.write("\n" + problem)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
