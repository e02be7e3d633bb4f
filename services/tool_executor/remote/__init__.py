"""The remote tools of this deployment: listed, pinned by hash, and approved by an operator."""
