"""Sessions and their turns: messages, streams of events, approvals, the workspace, the catalogue."""
