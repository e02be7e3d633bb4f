"""One turn, from a message to its end.

A message visits the modules in this order: start → gathering → plan → steps → tool_calls → approvals → decisions →
results → commit → finish. `transitions` holds the rules by which the turn moves, `state` its data, `unit_of_work` what
one input changes, and `context` the ports. `rollback` undoes a commit, `unknown_effects` asks whether an effect
happened.
"""
