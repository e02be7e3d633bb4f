"""The memory service: stores a person's memories and facts, and recalls them by meaning and by words.

Consumes memory.events (remember.requested, fact.stated, fact.forgotten, feedback.given) and serves HTTP on 9696 to
Suma's services. Produces audit.events: no memory is written without a recorded policy decision. Owns the schema
`memory`: memories, facts, feedback, a person's mind, knowledge bases (architecture.md 13).

A memory of the universe `session` is recalled in its own session only; one of any other universe, by its person only.
"""
