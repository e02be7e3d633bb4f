"""Effects outside the workspace: each happens once, by its class."""
