"""The addresses of the A2A surface."""

from __future__ import annotations

CARD = "/.well-known/agent-card.json"
KEYS = "/.well-known/jwks.json"
JSONRPC = "/a2a"
REST = "/a2a/v1"
PUBLIC = frozenset((CARD, KEYS))
"""Served without credentials."""
