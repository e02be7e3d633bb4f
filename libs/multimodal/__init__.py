"""Multimodal work: the Task DSL, the capabilities that can do a task, and what they are given and return."""

__all__ = ["children", "compiler", "composing", "credentials", "critic", "dsl", "ports", "producers", "ranking"]
