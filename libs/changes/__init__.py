"""Changesets: the outcome of one input as data, lanes that serialise the inputs of a key, and the writer."""

from libs.changes.changeset import Cause, Change, Changeset, DeadLetterAction
from libs.changes.rows import Row, row
from libs.changes.writer import Writer

__all__ = [
    "Cause",
    "Change",
    "Changeset",
    "DeadLetterAction",
    "Row",
    "Writer",
    "row",
]
