"""Minds: one port, the offline model that needs no network, vendors' models, and a scripted one for tests."""

from libs.models.ports import Answered, Drafted, Model, Nonsense, PlannerOutcome, Said, Unclear, Why

__all__ = ["Answered", "Drafted", "Model", "Nonsense", "PlannerOutcome", "Said", "Unclear", "Why"]
