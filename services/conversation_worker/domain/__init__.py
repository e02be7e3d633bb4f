"""The rules of a turn: facts in, facts out; no clock, no I/O."""
