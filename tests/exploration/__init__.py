"""Exploration of the HTTP API: schemathesis asks a real platform everything that the OpenAPI document lets one ask, and
what it forbids, as two tenants, and judges each answer.

`world` makes two tenants with something of each kind; `steering` puts their ids into generated requests; `verdicts`
judges an answer; `explorer` runs the cases. `python -m tests.exploration` is the large run.
"""
