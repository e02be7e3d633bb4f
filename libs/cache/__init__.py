"""What is fast and may be lost: everything here can be rebuilt, or is replaced by an event (DESIGN §2, §5)."""

from libs.cache.ports import START, Delta, Deltas, Entry, Stream

__all__ = ["START", "Delta", "Deltas", "Entry", "Stream"]
