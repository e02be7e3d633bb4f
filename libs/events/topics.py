"""The topics, each declared once (architecture.md 6): partitions, retention, producers and consumers.

The partition key is always `tenant:session` (without a session `tenant:subject`; never the tenant alone).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    producers: tuple[str, ...]
    consumers: tuple[str, ...]
    partitions: int = 6
    retention: timedelta = timedelta(days=7)
    optional: tuple[str, ...] = ()
    """Groups that read it only where a setting asks for them; the log waits for them only then."""
    projected: bool = False
    """Whether its consumers project it in SQL from the log, on every bus (decision 0120)."""

    def partition_of(self, key: str) -> int:
        """Return the partition of every event of `key`; the same in every process and release."""
        return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "big") % self.partitions


CONVERSATION, COMMITTEE, EXECUTOR = "conversation_worker", "committee_worker", "tool_executor"
GATEWAY, MEMORY, AUDIT = "gateway", "memory_service", "audit_worker"
OBSERVERS = "observers"
EVERYONE = (GATEWAY, CONVERSATION, COMMITTEE, EXECUTOR, MEMORY, AUDIT)

INBOUND = Topic("conversation.inbound", (GATEWAY,), (CONVERSATION,))
OUTBOUND = Topic("conversation.outbound", (CONVERSATION,), (GATEWAY,), optional=(OBSERVERS,), projected=True)
COMMITTEE_REQUESTS = Topic("committee.requests", (CONVERSATION,), (COMMITTEE,))
COMMITTEE_DECISIONS = Topic("committee.decisions", (COMMITTEE,), (CONVERSATION,))
TOOL_REQUESTS = Topic("tool.requests", (CONVERSATION,), (EXECUTOR,))
TOOL_RESULTS = Topic("tool.results", (EXECUTOR,), (CONVERSATION,))
MEMORY_EVENTS = Topic("memory.events", (CONVERSATION, EXECUTOR), (MEMORY,))
AUDIT_EVENTS = Topic("audit.events", EVERYONE, (AUDIT,), retention=timedelta(days=30), projected=True)
DLQ_EVENTS = Topic("dlq.events", EVERYONE, (GATEWAY,), retention=timedelta(days=30), projected=True)

TOPICS = {
    topic.name: topic
    for topic in (
        INBOUND,
        OUTBOUND,
        COMMITTEE_REQUESTS,
        COMMITTEE_DECISIONS,
        TOOL_REQUESTS,
        TOOL_RESULTS,
        MEMORY_EVENTS,
        AUDIT_EVENTS,
        DLQ_EVENTS,
    )
}
