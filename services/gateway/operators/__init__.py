"""Operators: dead letters, the bus, metrics, audit, budgets, health."""
