"""Parts that many tests share: a running platform, forked processes, an echo service, and tools with effects."""
