"""The mind that needs no network: reads a request, matches it to tools, plans, reviews by rule, and answers from what
was seen.
"""

from libs.models.offline.model import OfflineModel

__all__ = ["OfflineModel"]
