"""The meaning of an outside issuer's claims: tenant, principal, roles, scopes (docs/identity.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from libs.identity import BadToken
from libs.identity.roles import BUNDLES

TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
PRINCIPAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@|+-]{0,127}")
GRANTABLE = frozenset[str]().union(*BUNDLES.values())
"""The scopes that a token may carry: those of the roles, never `*`, other tenants or roots."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """The names of the claims. `tenant` is fixed, or None: the claim has it. `roles` maps foreign names to Suma's;
    empty: they are the same.
    """

    tenant: str | None
    tenant_claim: str
    principal_claim: str
    roles_claim: str
    roles: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Account:
    tenant: str
    principal: str
    roles: frozenset[str]
    scopes: frozenset[str]


def account(claims: Mapping[str, Any], mapped: Mapped) -> Account:
    """Return the account that a verified token names. A role or scope that is not ours grants nothing.

    Raises:
        BadToken: it names no tenant or principal, or one that cannot exist here.
    """
    tenant = mapped.tenant or claims.get(mapped.tenant_claim)
    principal = claims.get(mapped.principal_claim)
    if not isinstance(tenant, str) or not TENANT.fullmatch(tenant):
        raise BadToken(f"the token names no tenant in the claim {mapped.tenant_claim}")
    if not isinstance(principal, str) or not PRINCIPAL.fullmatch(principal):
        raise BadToken(f"the token names no principal in the claim {mapped.principal_claim}")
    named = _words(claims.get(mapped.roles_claim))
    ours = {mapped.roles.get(name, name if not mapped.roles else "") for name in named}
    scopes = GRANTABLE.intersection(_words(claims.get("scope", claims.get("scp"))))
    return Account(tenant, principal, frozenset(ours & set(BUNDLES)), scopes)


def _words(value: Any) -> Iterable[str]:
    """Return a claim that is a list, or words with blanks between them (RFC 8693)."""
    match value:
        case str():
            return value.split()
        case list():
            return [word for word in value if isinstance(word, str)]
        case _:
            return []
