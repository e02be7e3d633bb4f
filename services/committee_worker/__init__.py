"""The committee worker: plans, criticises and resolves before any change is made.

Consumes committee.requests (plan.requested, plan.cancel_requested). Produces plan.approved, plan.rejected and
plan.unclear on committee.decisions, and every verdict on audit.events. Owns no table: a deliberation is a chain of
leases. Each lease is one model call with its complete input, so a recorded answer is never paid for twice
(architecture.md 8 and 9; S0-09 … S0-23).
"""
