"""Who may knock: the Host that we are addressed by, and the Origin of the page that asks (DESIGN §13)."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit


def name_of(host: str) -> str:
    """A Host header without its port, in lower case."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[: host.find("]") + 1]
    return host.partition(":")[0]


def addressed(hosts: Collection[str], names: Collection[str]) -> bool:
    """One Host header, and one of our names: a rebound name is a stranger's."""
    return len(hosts) == 1 and name_of(next(iter(hosts))) in names


def same_origin(origin: str, host: str) -> bool:
    """Whether a page of `origin` was served by us; the scheme may have been changed by a proxy before us."""
    parts = urlsplit(origin)
    return parts.scheme in ("http", "https") and bool(parts.netloc) and parts.netloc.lower() == host.strip().lower()
