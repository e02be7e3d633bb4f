"""The gateway's own HTTP API: sessions, messages, events, files, operators (architecture.md 14)."""
