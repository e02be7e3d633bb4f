"""The gateway: the HTTP API for people and programs, on port 8010 (architecture.md 14).

Consumes conversation.outbound, which it projects into one numbered sequence per session, and dlq.events. Produces
conversation.inbound (messages, answers to approvals, cancels, rollbacks) and audit.events. Owns the schema `gateway`:
session_envelopes, session_events, turns, approvals, attachments, dlq_messages, idempotency; and, written only as the
schema's owner, tenants, principals, api_keys, web_sessions, signin_codes.

It writes each request as a changeset in the transaction that precedes the 202. All other data that it serves is a
projection of events, so a client, a tab or this process may stop at any time.
"""
