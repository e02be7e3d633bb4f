"""Multimodal work: pictures, diagrams, charts and documents, made by local programs and by providers."""
