"""The metrics, each declared once, with a sentence. Names from requirement S3-60 are kept as written."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

WORK = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900)
"""Bounds in seconds, for what may be a look into a file or a long talk with a model."""

conflicts = Counter(
    "suma_bus_conflicts_total", "Changesets that were decided again because someone was first.", ["group"]
)
parked = Counter("suma_bus_parked_total", "Events that had to wait.", ["group"])
dead_letters = Counter("suma_bus_dead_letters_total", "Events that could not be handled.", ["group"])
lag = Gauge("suma_bus_lag_records", "Records that a group has not done yet.", ["group", "topic"])
batch_size = Histogram(
    "suma_writer_batch_changesets", "Changesets in one transaction.", buckets=(1, 2, 4, 8, 16, 32, 64)
)
commit_seconds = Histogram(
    "suma_writer_commit_seconds",
    "Time of one commit, queueing left out.",
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5),
)
leases_held = Gauge("suma_leases_held", "Leases that this process works under.", ["group", "kind"])
leases_lost = Counter("suma_leases_lost_total", "Leases that ran out while we worked.", ["group", "kind"])
policy_decisions = Counter("suma_policy_decisions_total", "Policy decisions.", ["action", "allowed"])
messages = Counter("conversation_worker_messages_total", "Messages that became turns.", ["result"])
processing_seconds = Histogram(
    "conversation_worker_processing_seconds",
    "From a turn's start to its end.",
    ["result"],
    buckets=WORK,
)
tasks = Counter("sa01_core_tasks_total", "Pieces of leased work.", ["group", "kind", "result"])
task_seconds = Histogram(
    "sa01_core_task_latency_seconds", "Time of one piece of leased work.", ["group", "kind"], buckets=WORK
)
sse_connections = Gauge("gateway_sse_connections", "Open event streams.")
transitions = Counter("fsm_transition_total", "Changes of a turn's state.", ["from_state", "to_state"])
turns = Counter("suma_turns_total", "Turns that have ended.", ["state"])
memory_requests = Counter("somabrain_http_requests_total", "Requests to the memory service.", ["route", "status"])
memory_seconds = Histogram("somabrain_request_seconds", "Time of a request to the memory service.", ["route"])
