"""Changesets: the outcome of one input as data, lanes that serialise the inputs of a key, and the writer."""

from libs.changes.changeset import Cause, Change, Changeset, DeadLetterAction

__all__ = ["Cause", "Change", "Changeset", "DeadLetterAction"]
