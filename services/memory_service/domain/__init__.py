"""The memory service's rules: no I/O."""
