"""Digests that approvals are bound to, and how exclusions and edits change the args (architecture.md 8, A22a)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import orjson

from libs.events import Args, Diff, Json, Plan


def digest(*parts: Json) -> str:
    """Return the SHA-256 over the sorted JSON of all that an answer is bound to."""
    return sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def of_step(*, args: Args, tool: str, plan: Plan, rule: str, obligations: Sequence[str], epoch: int) -> str:
    """Return the digest of the resolved args, the plan, the policy's rule and obligations, and the session's epoch."""
    return digest("step", tool, args, plan.model_dump(mode="json"), rule, list(obligations), epoch)


def of_commit(*, diff: Diff, rule: str, obligations: Sequence[str], epoch: int) -> str:
    # The diff has a digest over all of its entries, so those without room in the event count too.
    return digest("commit", diff.model_dump(mode="json"), rule, list(obligations), epoch)


def of_call(tool: str, args: Args) -> str:
    return digest("call", tool, args)


def items(args: Args) -> Iterator[Json]:
    """Yield the items that a person may exclude: the entries of the args' lists, by `id` or by their own value."""
    for value in args.values():
        for entry in value if isinstance(value, list) else ():
            name = _name(entry)
            if name is not None:
                yield {**entry, "id": name} if isinstance(entry, Mapping) else {"id": name}


def without(args: Args, exclude: Collection[str]) -> Args:
    """Return the args without the excluded list entries."""
    return {
        name: [entry for entry in value if _name(entry) not in exclude] if isinstance(value, list) else value
        for name, value in args.items()
    }


def unknown(offered: Iterator[Json], exclude: Collection[str]) -> list[str]:
    """Return the exclusions that name no item."""
    return sorted(set(exclude) - {item["id"] for item in offered}) if exclude else []


def _name(entry: Any) -> str | None:
    if isinstance(entry, str):
        return entry
    return str(entry["id"]) if isinstance(entry, Mapping) and "id" in entry else None
