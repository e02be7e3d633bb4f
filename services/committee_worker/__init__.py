"""The committee worker: before anything changes, a planner, a critic and a resolver have had their say.

Listens to committee.requests (plan.requested, review.requested, plan.cancel_requested). Says plan.approved,
plan.rejected, plan.unclear on committee.decisions, and every verdict on audit.events. Owns no table: a deliberation is
a chain of leases, each of which is one model call that carries all it needs, so that a recorded answer is never paid
for again (DESIGN §7, §8; S0-09 … S0-23).
"""
