"""Changesets: what one input leads to, as data; lanes that take one input of a key at a time; the writer that applies
them."""

from libs.changes.changeset import Aside, Cause, Change, Changeset

__all__ = ["Aside", "Cause", "Change", "Changeset"]
