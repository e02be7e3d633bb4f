"""`python -m services.contracts [--check] [DIR]`: write `proto/openapi.yaml`, the gateway's API for other languages.

It also writes `proto/task-dsl.v1.json`, the schema of the Task DSL.

`libs.events.contracts`, which must not import a service, writes the events' half of `make contracts`.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml
from typing_extensions import override

from libs.errors import Rejected
from libs.multimodal import dsl
from libs.runtime import Platform
from services import catalog
from services.gateway.contract import gaps

if TYPE_CHECKING:
    from fastapi import FastAPI

PROTO = Path(__file__).resolve().parents[1] / "proto"
HEAD = "# Written from services/gateway by `make contracts`: change the routes, not this file.\n"


class _Whole(yaml.SafeDumper):
    """A dumper without anchors: readers of the contract expect plain YAML."""

    @override
    def ignore_aliases(self, data: object) -> bool:
        return True


class Incomplete(Rejected):
    """Routes lack a part of the contract; add it."""


@cache
def openapi() -> str:
    """Return the gateway's OpenAPI document as YAML. It is cached: the routes do not change while a process runs."""
    document = application().openapi()
    if missing := list(gaps(document)):
        raise Incomplete("\n".join(missing))
    return HEAD + yaml.dump(document, Dumper=_Whole, sort_keys=False, allow_unicode=True, width=120)


def application() -> FastAPI:
    """Return the gateway's application on no platform: it describes itself, and cannot answer."""
    api = catalog.entry("gateway").build(_nothing()).api
    assert api is not None
    return cast("FastAPI", api.app)


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    try:
        written = {"openapi.yaml": openapi(), "task-dsl.v1.json": dsl.schema()}
    except Incomplete as missing:
        sys.stderr.write(f"{missing}\n")
        return 1
    paths = {asked.folder / name: text for name, text in written.items()}
    stale = [path for path, text in paths.items() if not path.exists() or path.read_text("utf-8") != text]
    if stale and asked.check:
        names = ", ".join(path.name for path in stale)
        sys.stderr.write(f"{names} is stale; run `make contracts` and commit the result\n")
        return 1
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(paths[path], "utf-8")
    return 0


def _nothing() -> Platform:
    """Return a platform without ports: building a service only declares it."""
    ports: dict[str, Any] = {
        port.name: None
        for port in dataclasses.fields(Platform)
        if port.default is dataclasses.MISSING and port.default_factory is dataclasses.MISSING
    }
    return Platform(**ports)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m services.contracts", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only check; write nothing")
    parser.add_argument("folder", nargs="?", type=Path, default=PROTO, metavar="DIR", help="proto by default")
    return parser


if __name__ == "__main__":
    sys.exit(main())
