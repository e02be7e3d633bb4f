"""Clients of our own HTTP APIs, for queries only: commands and facts travel as events (architecture.md 5).

Each call carries a one-minute token for one tenant and one service.
A query of a service in the same process is a call of its function, without HTTP or a token.
"""

from libs.clients.calls import TIMEOUT_SECONDS, NotConfigured, Query, call, is_near
from libs.clients.issuer import Issuer
from libs.clients.outside import Answer, NoAnswer, NoReply, NotReached, Reply, check_reachable, get, outside, send

__all__ = [
    "TIMEOUT_SECONDS",
    "Answer",
    "Issuer",
    "NoAnswer",
    "NoReply",
    "NotConfigured",
    "NotReached",
    "Query",
    "Reply",
    "audit",
    "call",
    "calls",
    "check_reachable",
    "executor",
    "get",
    "is_near",
    "knowledge",
    "memory",
    "mind",
    "multimodal",
    "outside",
    "send",
]
