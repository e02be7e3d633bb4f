"""Language models: the port, the offline planner, and vendors' models."""
