"""MCP at /mcp (architecture.md 14): tools, resources, prompts and skills for MCP hosts, over the gateway's own turns.

Two revisions share the endpoint. 2026-07-28 has self-contained requests; what a turn asks of a person ends the request
as `input_required`, and the client sends it again with the answer. Before it (2025-11-25 and older) a client begins
with a handshake; questions travel as `elicitation/create` on the stream of the call, which goes on.

No replica keeps anything between requests: a session id is a signed token, the id of a question names the approval,
the position in a stream is the number of an event, and the turn of a call is found by its idempotency key.
"""
