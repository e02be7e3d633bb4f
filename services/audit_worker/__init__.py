"""The audit worker: the only one that chains. What anyone did, decided or refused becomes a link that none can remove.

Listens to audit.events (action.recorded), from every service. Says nothing. Owns the schema `audit`: audit_events (the
chain, one per tenant), heads (where each chain ends) and checkpoints (signed heads, also in a file outside Postgres).
It never dead-letters: an event that it cannot chain stops its lane, and `/readyz` says so (DESIGN §17; bus.md 19).
"""
