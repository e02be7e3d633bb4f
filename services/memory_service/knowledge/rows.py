"""The rows of knowledge bases: one class for each paragraph of `apply.sql`."""

from __future__ import annotations

from libs.changes import Row, row
from services.memory_service.rows import SCHEMA


@row(SCHEMA, "knowledge.read")
class ReadingBegun(Row):
    """A base, new or known, that `job` is going to read."""

    base_id: str
    user_id: str
    name: str
    source: str
    strategy: str
    chunk_size: int
    job: str


@row(SCHEMA, "knowledge.progress")
class Progressed(Row):
    """How far a reading is: of `files`, `done` are up to date. It conflicts once another job reads the base."""

    base_id: str
    job: str
    state: str
    detail: str
    files: int
    done: int


@row(SCHEMA, "knowledge.file")
class FileRead(Row):
    """A file as it was read; with another digest than before, its chunks are replaced."""

    base_id: str
    path: str
    stamp: str
    digest: str
    chunks: int
    gap: str


@row(SCHEMA, "knowledge.chunk")
class ChunkAdded(Row):
    """A chunk with its lines or pages, and its vector (pgvector's sparse text format)."""

    base_id: str
    path: str
    place: int
    unit: str
    first: int
    last: int
    text: str
    embedder: str
    embedding: str


@row(SCHEMA, "knowledge.drop")
class FileGone(Row):
    """A file that the source no longer has."""

    base_id: str
    path: str


@row(SCHEMA, "knowledge.remove")
class BaseRemoved(Row):
    """A base that is removed, with its files and chunks."""

    base_id: str
