"""Event streams: the channels of this process, and each viewer's numbered events and partial text."""
