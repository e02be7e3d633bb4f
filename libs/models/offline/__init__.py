"""The model that needs no network: it plans plain English requests, reviews by rule, and answers from the steps."""

from libs.models.offline.model import OfflineModel

__all__ = ["OfflineModel"]
