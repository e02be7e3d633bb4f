"""`python -m libs.policy.publish FOLDER FILE`: pack the rules in FOLDER as the bundle that an OPA server loads.

Rules that the in-process engine would refuse are not packed, so every engine has the same rules. FILE is replaced
atomically; if a web server or a bucket serves it, OPA loads the new one by itself. Prints the revision.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from libs.policy.bundle import Bundle, BundleBroken, try_apart


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    try:
        sys.stdout.write(publish(asked.folder, asked.file) + "\n")
    except (BundleBroken, OSError) as error:
        sys.stderr.write(f"publish: {error}\n")
        return 1
    return 0


def publish(folder: Path, file: Path) -> str:
    """Write the archive unless it is unchanged; return its revision. Raises BundleBroken."""
    bundle = Bundle.read(folder)
    try_apart(bundle)
    archive = bundle.archive()
    if not file.exists() or file.read_bytes() != archive:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Beside the file: a rename is atomic only within one file system.
        draft = file.with_name(f".{file.name}.new")
        draft.write_bytes(archive)
        draft.replace(file)
    return bundle.revision


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m libs.policy.publish", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the rules, such as deploy/opa")
    parser.add_argument("file", type=Path, metavar="FILE", help="the archive, such as build/suma.tar.gz")
    return parser


if __name__ == "__main__":
    sys.exit(main())
