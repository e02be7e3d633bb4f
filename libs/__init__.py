"""The parts that services are made of. Nothing here knows of any service."""

__version__ = "0.1.0"
"""The version of the distribution, which pyproject.toml reads from here."""
