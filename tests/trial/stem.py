"""`python -m tests.trial.stem MODULE`: imports the module once, then forks a process of it whenever it is asked to.

Lines of JSON on standard input: `{"spawn": [...]}` answers `{"pid": n}` and runs `MODULE.main(*arguments)` there;
`{"reap": n}` answers when that process has ended. This module imports the standard library alone.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
from types import ModuleType
from typing import Any

PR_SET_PDEATHSIG = 1


def main(name: str) -> None:
    module = importlib.import_module(name)
    if hasattr(module, "ready"):
        module.ready()
    _answer({"ready": name})
    for line in iter(sys.stdin.readline, ""):
        asked = json.loads(line)
        if "spawn" in asked:
            _answer({"pid": _spawn(module, asked["spawn"])})
        else:
            _answer({"status": os.waitpid(asked["reap"], 0)[1]})


def _spawn(module: ModuleType, arguments: list[Any]) -> int:
    if pid := os.fork():
        return pid
    # The stem's end, however it comes, is ours.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdin = open(0)  # noqa: SIM115 - for the life of the process
    try:
        module.main(*arguments)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(1)


def _answer(said: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
