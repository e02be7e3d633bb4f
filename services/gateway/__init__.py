"""The gateway: where people and programs meet the platform (DESIGN §13), on port 8010.

Listens to conversation.outbound, which it projects into one numbered sequence per session, and to dlq.events. Says
conversation.inbound (messages, answers to approvals, cancels, rollbacks) and audit.events. Owns the schema `gateway`:
session_envelopes, session_events, turns, approvals, attachments, dlq_messages, idempotency, api_keys.

What it is told, it writes in the transaction that answers 202, as a changeset like any other; everything else that it
shows is its projection of events, so a client, a tab or this process may go away in the middle of anything.
"""
