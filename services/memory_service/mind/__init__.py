"""A person's mind beside their memories: feedback as weights, neuromodulators, persona, and consolidation in sleep."""
