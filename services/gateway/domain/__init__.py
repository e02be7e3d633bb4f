"""The gateway's pure rules: facts in, facts out."""
