"""HTTP itself: bounded bodies, errors as problem documents, limits, the contract, commands."""
