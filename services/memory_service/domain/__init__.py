"""The pure rules of the memory service."""
