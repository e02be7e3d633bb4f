"""Identities and permissions: API keys, grants for tool calls, and tokens between services (architecture.md 9, 14)."""

from libs.identity.keys import ApiKey, BadKey, BadSignature, NoKey, Principal, ScopeMissing
from libs.identity.proofs import BadProof
from libs.identity.roles import Role
from libs.identity.signed_requests import Signed
from libs.identity.tokens import BadToken, Claims

__all__ = [
    "ApiKey",
    "BadKey",
    "BadProof",
    "BadSignature",
    "BadToken",
    "Claims",
    "NoKey",
    "Principal",
    "Role",
    "ScopeMissing",
    "Signed",
    "grants",
    "internal",
    "jwt",
    "keys",
    "proofs",
    "roles",
    "signed_requests",
    "tokens",
]
