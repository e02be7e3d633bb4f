"""The tool executor: it alone runs tools, and checks every condition itself (architecture.md 9, 10, 11).

Listens to tool.requests (tool.requested, tool.cancel_requested). Says tool.succeeded, tool.failed, tool.denied and
tool.unknown on tool.results, and every decision, intent and outcome on audit.events. Owns the schema
`executor`: tool_calls, effects, stages and their operations, snapshots, and the journal's mirror. Runs the tools that
come from outside (libs.tools), each effect once by its class. Owns the sessions' workspaces: reading
primitives see the staged view, changing ones touch only the stage, and `workspace.commit` alone touches files.
"""
