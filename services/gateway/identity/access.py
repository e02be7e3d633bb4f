"""Which sessions of its tenant a principal sees, and in which it may act (docs/identity.md)."""

from __future__ import annotations

from typing import Literal

from libs.identity import Principal
from libs.identity.roles import SESSIONS_READ, SESSIONS_WRITE

Shared = Literal["read", "write"]
"""The access of the tenant's others to a session that its principal has shared."""


APART = ("roots", "tenants")
"""Areas of administration that the scope `admin` does not cover (deploy/opa/suma.rego)."""


def grants(who: Principal, scope: str) -> bool:
    """Return whether a principal may give a scope away: it holds it, by name or as a part of `admin`."""
    family, _, area = scope.partition(".")
    covered = family == "admin" and bool(area) and area.partition(".")[0] not in APART
    return who.may(scope) or (covered and who.may("admin"))


def reader(who: Principal) -> str | None:
    """Return the principal whose own and shared sessions a list shows; None for one who sees all of the tenant's."""
    return None if who.may(SESSIONS_READ) else who.id


def sees(who: Principal, owner: str, shared: Shared | None) -> bool:
    return who.id == owner or shared is not None or who.may(SESSIONS_READ)


def shares(who: Principal, owner: str) -> bool:
    return who.id == owner or who.may(SESSIONS_WRITE)


def acts(who: Principal, owner: str, shared: Shared | None) -> bool:
    return who.id == owner or shared == "write" or who.may(SESSIONS_WRITE)
