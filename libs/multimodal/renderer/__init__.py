"""The renderer: a short-lived process that turns a stranger's source text or picture into a finished one.

It imports nothing else of Suma, so that it starts fast and holds nothing secret. Native libraries that cannot share a
process (Graphviz, V8) each get one of their own.
"""
