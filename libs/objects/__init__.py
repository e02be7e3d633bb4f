"""Blobs: bytes named by their SHA-256, each tenant's apart (architecture.md 2, 15)."""

from libs.objects.content import ASSETS, STAGES, UPLOADS, area, disposition
from libs.objects.ports import Blob, BlobCorrupt, BlobMissing, BlobTooLarge, Objects

__all__ = [
    "ASSETS",
    "STAGES",
    "UPLOADS",
    "Blob",
    "BlobCorrupt",
    "BlobMissing",
    "BlobTooLarge",
    "Objects",
    "area",
    "bodies",
    "disposition",
    "filesystem",
    "guarded",
    "s3",
]
