from pathlib import Path

import pytest

from libs.audit.chain import record_of
from libs.keys import Keys
from libs.keys.file import FileKeys
from tests.libs.audit.exports import Log, event


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return FileKeys(tmp_path_factory.mktemp("ours") / "keys")


@pytest.fixture(scope="session")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return FileKeys(tmp_path_factory.mktemp("theirs") / "keys")


@pytest.fixture
def fresh(tmp_path: Path) -> Keys:
    """Keys that a test may rotate or erase."""
    return FileKeys(tmp_path / "keys")


@pytest.fixture
def log(keys: Keys) -> Log:
    return Log(keys, "acme", tuple(dict(record_of(event(number))) for number in range(1, 11)))


@pytest.fixture
async def lines(log: Log) -> list[bytes]:
    """Lines of an export: header, 1 2 3 C3, 4 5 6 C6, 7 8 9 C9, 10, closing."""
    return await log.exported()
