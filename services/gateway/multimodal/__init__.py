"""Multimodal jobs: turns that make pictures and documents, their assets and provenance (docs/decisions/0130)."""
