"""The rules of the committee: facts in, facts out."""
