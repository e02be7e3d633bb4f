"""The audit worker: appends every action, decision and refusal to a tamper-evident chain.

Consumes audit.events (action.recorded, actions.recorded) from every service; produces nothing. Owns the schema `audit`:
audit_events (the chain, one per tenant), heads (the end of each chain) and checkpoints (signed heads, also in a file
outside Postgres).
It never dead-letters: an event that cannot be chained stops its lane, and `/readyz` reports it (bus.md 19).
"""
