"""The parts that services are made of. Nothing here knows of any service."""

import os

# Before NumPy is imported: its products are small here, and its threads spin after each. They took twice a turn's CPU.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "0.1.0"
"""The version of the distribution, which pyproject.toml reads from here."""
