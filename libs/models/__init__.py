"""Language models: the port, the offline planner, vendors' models, and a scripted model for tests."""
