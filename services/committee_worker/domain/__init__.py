"""The pure rules of the committee worker."""
