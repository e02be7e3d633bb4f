"""The bundled skills and the offline model over them, with ids that count from 1."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from pathlib import Path

import pytest

from libs.models.offline import OfflineModel
from libs.skills import Categories, Skills, ToolDefinition

NOW = datetime(2026, 5, 15, 12, tzinfo=UTC)
BUNDLED = Path(__file__).parents[3] / "skills"


@pytest.fixture(scope="session")
def catalogue() -> tuple[ToolDefinition, ...]:
    return Skills.load([BUNDLED]).tools


@pytest.fixture(scope="session")
def categories() -> Categories:
    return Categories.load(BUNDLED / "organize-by-type/references/categories.yaml")


@pytest.fixture(scope="session")
def model(categories: Categories) -> OfflineModel:
    """One for all: it keeps nothing but the compiled intents of the catalogue."""
    numbers = itertools.count(1)
    return OfflineModel(categories, new_id=lambda: f"id-{next(numbers)}", now=lambda: NOW)
