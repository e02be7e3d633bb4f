"""The memory service: what is worth keeping, found again by meaning and by words, for the one whose it is.

Listens to memory.events (remember.requested, feedback.given) and speaks HTTP on 9696 to our other services. Says
audit.events: no memory is written without a recorded policy decision. Owns the schema `memory`: memories, facts,
feedback (DESIGN §12).

A memory of the universe `session` comes back in its own session alone, one of any other universe to its person alone.
"""
