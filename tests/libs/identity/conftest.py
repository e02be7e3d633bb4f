from pathlib import Path

import pytest

from libs.keys import Keys
from libs.keys.file import FileKeys


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return FileKeys(tmp_path_factory.mktemp("ours") / "keys")


@pytest.fixture(scope="session")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    """Keys of an attacker with write access to the bus but not to the data directory."""
    return FileKeys(tmp_path_factory.mktemp("theirs") / "keys")


@pytest.fixture
def fresh(tmp_path: Path) -> Keys:
    """Keys that a test may rotate."""
    return FileKeys(tmp_path / "keys")
