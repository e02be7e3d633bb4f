"""Identities and permissions: API keys, grants for tool calls, and tokens between services (architecture.md 9, 14)."""

from libs.identity.keys import ApiKey, BadKey, NoKey, Principal, ScopeMissing
from libs.identity.roles import Role
from libs.identity.tokens import BadToken

__all__ = ["ApiKey", "BadKey", "BadToken", "NoKey", "Principal", "Role", "ScopeMissing"]
