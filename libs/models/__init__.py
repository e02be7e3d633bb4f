"""Minds: one port, the offline model that needs no network, and a scripted one for tests."""

from libs.models.ports import Answered, Drafted, Model, PlannerOutcome, Said, Unclear, Why

__all__ = ["Answered", "Drafted", "Model", "PlannerOutcome", "Said", "Unclear", "Why"]
