"""The tools that work on the session's staged folder."""
