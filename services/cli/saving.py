"""Downloads to standard output or into a new file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from services.cli.errors import Usage


def save(content: Iterator[bytes], out: Path | None) -> None:
    """Write what is downloaded. Raises Usage if the file exists or cannot be written."""
    if out is None:
        for chunk in content:
            sys.stdout.buffer.write(chunk)
        return
    with _new(out) as file:
        for chunk in content:
            file.write(chunk)


@contextmanager
def _new(path: Path) -> Iterator[Any]:
    """Create a file; remove it if it cannot be completed, so that a retry finds its name free."""
    try:
        with path.open("xb") as file, _removed_on_error(path):
            yield file
            # Closing writes the rest, and would report a full disk too late for the removal.
            file.flush()
    except FileExistsError:
        raise Usage(f"{path} already exists") from None
    except OSError as error:
        raise Usage(f"{path} cannot be written: {error.strerror}") from None


@contextmanager
def _removed_on_error(path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise
