"""Knowledge bases: files that a person named, read in the background, found by meaning and words (docs/knowledge.md).

The tool executor reads the files, since it alone knows which of them a tenant may read; this room cuts the texts into
chunks, embeds and keeps them. Texts are untrusted: a plan gets them as data, with the file and the range.
"""

from services.memory_service.knowledge.rooms import Knowledge

__all__ = ["Knowledge"]
