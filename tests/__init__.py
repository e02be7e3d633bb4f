"""The tests: behaviour sentences, through the highest port that can see the behaviour."""
