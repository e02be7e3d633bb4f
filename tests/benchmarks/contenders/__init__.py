"""Who runs the turn: model call → tool → model call, every step durable before the next. One process each.

The answer to a turn is awaited as its client would see it. `langgraph` runs in an environment of its own.
"""
