"""The pure rules of the gateway."""
