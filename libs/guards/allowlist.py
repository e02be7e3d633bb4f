"""The allowlist of an agent's tools: by name, by `ns.*`, or `*` for all."""

from __future__ import annotations

from collections.abc import Sequence


def allows(allowlist: Sequence[str], tool: str) -> bool:
    """Return whether the tool is on the list. An empty list allows nothing."""
    return any(entry in ("*", tool) or _spans(entry, tool) for entry in allowlist)


def as_policy_reads(allowlist: Sequence[str], tool: str) -> list[str]:
    """Return the list for a policy question about this tool: rules know exact names and `*` only
    (deploy/opa/README.md).
    """
    return [*allowlist, *(tool for entry in allowlist if _spans(entry, tool))]


def _spans(entry: str, tool: str) -> bool:
    # With the dot: `file.*` does not span `files.list`.
    return entry.endswith(".*") and tool.startswith(entry[:-1])
