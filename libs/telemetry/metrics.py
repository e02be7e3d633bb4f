"""The metrics, each declared once with a sentence. Names from requirement S3-60 are kept as written."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

WORK = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900)
"""Bucket bounds in seconds, from a file read to a long model call."""

conflicts = Counter("suma_bus_conflicts_total", "Changesets that were decided again after a conflict.", ["group"])
fused = Counter("suma_bus_fused_total", "Events that were handled in the commit of their cause.", ["group"])
chains_cut = Counter("suma_bus_chains_cut_total", "Failed chains of which only the first changeset was applied.")
parked = Counter("suma_bus_parked_total", "Events that were parked.", ["group"])
parked_events = Gauge("suma_bus_parked_events", "Parked events that wait for a retry.", ["group", "topic"])
parked_age = Gauge("suma_bus_parked_oldest_seconds", "Age of the oldest parked event.", ["group", "topic"])
dead_letters = Counter("suma_bus_dead_letters_total", "Events that became dead letters.", ["group"])
relayed = Counter("suma_relay_records_total", "Events that the relay has sent from the log to Kafka.", ["topic"])
foreign = Counter("suma_bus_foreign_messages_total", "Skipped messages that were no Suma events.", ["topic"])
lag = Gauge("suma_bus_lag_records", "Records that a group has not handled yet.", ["group", "topic"])
oldest_record = Gauge("suma_bus_oldest_record_seconds", "Age of the oldest record that the log keeps.", ["topic"])
trimmed_records = Counter("suma_bus_trimmed_records_total", "Records that were deleted from the log.", ["topic"])
trimmed_inbox = Counter(
    "suma_bus_trimmed_inbox_total", "Deleted inbox rows whose event cannot be redelivered.", ["group"]
)
batch_size = Histogram(
    "suma_writer_batch_changesets", "Changesets in one transaction.", buckets=(1, 2, 4, 8, 16, 32, 64)
)
commit_seconds = Histogram(
    "suma_writer_commit_seconds",
    "Time of one commit, without queueing.",
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5),
)
leases_held = Gauge("suma_leases_held", "Leases that this process holds.", ["group", "kind"])
leases_lost = Counter("suma_leases_lost_total", "Leases that expired during their work.", ["group", "kind"])
outbound_calls = Counter(
    "suma_outbound_calls_total",
    "Outbound calls: ok, failed, timeout, or rejected by an open circuit.",
    ["dependency", "result"],
)
outbound_seconds = Histogram("suma_outbound_seconds", "Time of one outbound call.", ["dependency"], buckets=WORK)
outbound_retries = Counter("suma_outbound_retries_total", "Immediate retries of outbound calls.", ["dependency"])
breaker_state = Gauge("suma_breaker_state", "A dependency's circuit: 0 closed, 1 half open, 2 open.", ["dependency"])
dependency_up = Gauge("suma_dependency_up", "Whether a dependency answered its last probe.", ["dependency"])
degradation = Gauge(
    "suma_degradation_level",
    "Degradation of a dependency: 0 none, 1 minor, 2 moderate, 3 severe, 4 critical.",
    ["dependency"],
)
refused = Counter("suma_gateway_refused_total", "Requests that a limit refused before any work.", ["limit"])
requests_in_hand = Gauge("suma_gateway_requests_in_hand", "Running requests, without streams.")
loop_lag = Gauge("suma_loop_lag_seconds", "Delay of the event loop at its last sample.")
effects = Counter("suma_effects_total", "External effects by outcome.", ["effect_class", "state"])
model_calls = Counter(
    "suma_model_calls_total",
    "Model calls by result: ok, cut, closed by us, or the code of the error.",
    ["model", "verb", "result"],
)
model_seconds = Histogram(
    "suma_model_seconds", "Time of one model call, to its last word.", ["model", "verb"], buckets=WORK
)
model_repairs = Counter(
    "suma_model_repairs_total", "Repairs: repeated model calls after unusable output.", ["model", "verb"]
)
model_tokens = Counter("suma_model_tokens_total", "Tokens of models, as their vendors count them.", ["model", "kind"])
model_cost = Counter("suma_model_cost_dollars_total", "Cost of models in US dollars.", ["model"])
budget_reservations = Counter(
    "suma_budget_reservations_total",
    "Reservations for model calls: reserved, or the code of the limit that refused them.",
    ["result"],
)
budget_overruns = Counter("suma_budget_overruns_total", "Model calls that used more than their reservation.")
budget_lost = Counter("suma_budget_lost_total", "Unsettled reservations that were written off as spent.")
policy_decisions = Counter("suma_policy_decisions_total", "Policy decisions.", ["action", "allowed"])
policy_unanswered = Counter(
    "suma_policy_unanswered_total", "Policy questions without an answer; nothing ran on them.", ["action"]
)
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
responses = Counter("gateway_http_responses_total", "Responses of the gateway.", ["status"])
request_seconds = Histogram(
    "gateway_http_request_seconds", "From a request to the start of its response.", buckets=WORK
)
sse_connections = Gauge("gateway_sse_connections", "Open event streams.")
transitions = Counter("fsm_transition_total", "Changes of a turn's state.", ["from_state", "to_state"])
turns = Counter("suma_turns_total", "Turns that have ended.", ["state"])
memory_requests = Counter("somabrain_http_requests_total", "Requests to the memory service.", ["route", "status"])
memory_seconds = Histogram("somabrain_request_seconds", "Time of a request to the memory service.", ["route"])
capability_selections = Counter(
    "multimodal_capability_selection_total",
    "Attempts at multimodal tasks, by the capability that was selected.",
    ["tool_id", "provider", "modality"],
)
execution_latency = Histogram(
    "multimodal_execution_latency_seconds", "Time of one multimodal attempt.", ["tool_id", "provider"], buckets=WORK
)
execution_cost = Counter(
    "multimodal_execution_cost_estimate_cents", "Cost of multimodal attempts in US cents.", ["tool_id", "provider"]
)
quality = Histogram(
    "multimodal_quality_score",
    "Quality of assets as the critic judged them, from 0 to 1.",
    ["tool_id", "provider"],
    buckets=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
)
reworks = Counter("multimodal_rework_attempts_total", "Attempts that repeated one with its critique.", ["tool_id"])
ranker_divergence = Counter(
    "portfolio_ranker_shadow_divergence_total",
    "Selections in which the ranking preferred another candidate than the router.",
    ["step_type"],
)
capability_health = Gauge(
    "capability_health_status", "Whether a capability passed its last check: 0 or 1.", ["tool_id", "provider"]
)
problems = Gauge("suma_problems", "Reasons for which this process is not ready.")
disk_free = Gauge("suma_disk_free_ratio", "The free share of a disk that this process writes to.", ["place"])
spans_dropped = Counter("suma_spans_dropped_total", "Spans that no collector accepted.")
