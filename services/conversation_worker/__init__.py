"""The conversation worker: one turn at a time per session, from a message to an answer (architecture.md 8).

Listens to conversation.inbound (messages, approvals, findings about effects, cancels, rollbacks), committee.decisions
and tool.results. Says conversation.outbound for viewers, committee.requests, tool.requests (each call with a signed
grant), memory.events and audit.events. Owns the schema `conversation`: sessions, messages, turns, plans, plan_steps,
approvals.

received → analysed → (refused) → context built → thinking ⇄ acting → [commit decided] → answering → completed
"""
