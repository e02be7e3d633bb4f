"""The production profile on one machine, without containers: `make up-real`, and the servers that tests use.

Each server comes from one source: natively, at a pinned version (docs/decisions/0031).
"""
