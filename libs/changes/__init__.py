"""Changesets: what one input leads to, as data; lanes that take one input of a key at a time; the writer that applies
them."""

from libs.changes.changeset import Cause, Change, Changeset

__all__ = ["Cause", "Change", "Changeset"]
