"""`python -m libs.events.contracts [--check] [DIR]`: write `proto/`, or report what is stale.

A schema with an incompatible replacement is never overwritten. Exits with 1 if anything must be done.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from libs.events.contracts.files import GOLDEN, incompatibilities, stale, without_example, written

PROTO = Path(__file__).resolve().parents[3] / "proto"


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    folder: Path = asked.folder
    files = written()
    if broken := incompatibilities(folder, files):
        return _complain("An incompatible change; nothing was written:", broken)
    old = stale(folder, files)
    if asked.check and old:
        return _complain(f"{folder.name}/ is stale; run `make contracts` and commit what it writes:", old)
    for path in old:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(files[path], "utf-8")
    if bare := without_example(folder):
        examples = [f"{GOLDEN}/{name}.json" for name in bare]
        return _complain("Each event needs an example, written by hand and never changed:", examples)
    sys.stdout.write(f"{folder.name}/: {len(files)} files, {len(old)} written\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m libs.events.contracts", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("folder", nargs="?", type=Path, default=PROTO, metavar="DIR", help="proto by default")
    return parser


def _complain(what: str, lines: Sequence[str]) -> int:
    sys.stderr.write("\n".join([what, *(f"  {line}" for line in lines)]) + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
