"""Roles: bundles of scopes, so that a person gives a key a word and not a list (docs/identity.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum


class Role(StrEnum):
    USER = "user"
    OPERATOR = "operator"
    AUDITOR = "auditor"
    ADMIN = "admin"


ALL = "*"
SESSIONS_READ, SESSIONS_WRITE = "sessions:read", "sessions:write"
"""Scopes for the sessions of the tenant's other principals; one's own sessions do not need them."""

_USER = frozenset({"chat", "files:read", "files:write", "memory"})
_OPERATOR = _USER | {
    SESSIONS_READ,
    SESSIONS_WRITE,
    "admin.dlq.read",
    "admin.dlq.write",
    "admin.requeue.read",
    "admin.requeue.write",
    "admin.bus.read",
    "admin.metrics.read",
}
BUNDLES: Mapping[str, frozenset[str]] = {
    Role.USER: _USER,
    Role.OPERATOR: _OPERATOR,
    # An auditor reads everything of the tenant and changes nothing.
    Role.AUDITOR: frozenset({"files:read", SESSIONS_READ, "admin.audit", "admin.dlq.read", "admin.bus.read"}),
    # The scope `admin` covers every administrative action except other tenants and the allowed roots.
    Role.ADMIN: _OPERATOR | {"admin"},
}


def scopes_of(roles: Iterable[str], scopes: Iterable[str] = ()) -> frozenset[str]:
    """Return the scopes of these roles and the additional ones; `*` alone where it covers all others. A role of a
    newer release grants nothing here.
    """
    scopes = frozenset(scopes)
    if ALL in scopes:
        return frozenset({ALL})
    return scopes.union(*(BUNDLES.get(role, frozenset()) for role in roles))
