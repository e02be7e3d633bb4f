"""AG-UI 1.0 over Suma's turns: a run is a segment of a turn, and a question is an interrupt (decision 0076)."""
