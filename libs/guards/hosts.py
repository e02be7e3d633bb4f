"""Host and Origin: the name that a request is addressed to, and the page that sent it (architecture.md 14).

A web page reaches local ports by DNS rebinding: its own name then resolves to this machine. Such a request names that
host, never a configured one.
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit


def name_of(host: str) -> str:
    """Return a Host header without its port, in lower case."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[: host.find("]") + 1]
    return host.partition(":")[0]


def addressed(hosts: Collection[str], names: Collection[str]) -> bool:
    """Whether there is one Host header, with one of our names."""
    return len(hosts) == 1 and name_of(next(iter(hosts))) in names


def is_address(host: str) -> bool:
    """Whether a Host header holds an IP address. No name can be rebound to it."""
    try:
        ip_address(name_of(host).strip("[]"))
    except ValueError:
        return False
    return True


def same_origin(origin: str, host: str) -> bool:
    """Whether we served the page of `origin`; the scheme may have been changed by a proxy before us."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and parts.netloc.lower() == host.strip().lower()


def safe(url: str) -> bool:
    """Whether answers from this address cannot be changed on their way: https, or on this machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1"))
