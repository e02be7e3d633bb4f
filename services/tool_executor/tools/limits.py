"""Limits of one call, as the executor's settings give them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Limits(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    read_bytes_most: int = Field(default=4 << 20, ge=1)
    """Maximum of one file that is parsed, explained or summarised."""
    index_bytes_most: int = Field(default=256 * 1024, ge=1)
    """Maximum of each file, for content search."""
    document_bytes_most: int = Field(default=32 << 20, ge=1)
    """Maximum of one PDF or office file that is read."""
    search_documents_most: int = Field(default=200, ge=0)
    """PDF and office files that one content search reads anew; the next one goes on."""
    search_documents_bytes_most: int = Field(default=256 << 20, ge=0)
    """Bytes of these files."""
    search_documents_seconds: float = Field(default=20.0, ge=0)
    """Seconds that one content search spends on reading them."""
    summary_files_most: int = Field(default=100, ge=1)
    """Files that one summary reads."""
    archive_bytes_most: int = Field(default=1 << 30, ge=1)
    """Packed or unpacked by one call, counted as they pass; the archive itself is also a blob (`blob_bytes_most`)."""
    archive_entries_most: int = Field(default=10_000, ge=1)
    """Files and folders in one archive."""
    archive_ratio_most: int = Field(default=200, ge=1)
    """Bytes that may come out of each byte of an archive, from ten megabytes on."""
    copy_bytes_most: int = Field(default=4 << 30, ge=1)
    """Copied by one call."""
    copy_entries_most: int = Field(default=10_000, ge=1)
    """Files and folders that one call copies, at every depth."""
    staged_bytes_most: int = Field(default=4 << 30, ge=1)
    """Contents that one turn may stage beside its log."""
