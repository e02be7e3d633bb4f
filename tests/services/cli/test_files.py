"""Files that commands write and send."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from typing_extensions import override

from services.cli.commands import app
from services.cli.errors import Usage
from services.cli.uploads import upload
from tests.services.cli.answering import Server, running
from tests.services.cli.gateway import refusing


class Store(Server):
    """Holds one asset."""

    @override
    def answer(self, path: str, body: Any) -> Any:
        return {"detail": "There is no such file.", "code": "NOT_FOUND"} if self.status == 404 else "content"


@pytest.mark.parametrize(("status", "unsent"), [(404, 0), (200, 1)])
@pytest.mark.parametrize("command", [("fetch", "a1"), ("audit", "export")])
def test_a_failed_download_leaves_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: tuple[str, ...], status: int, unsent: int
) -> None:
    with running(store := Store(), monkeypatch) as runner:
        store.status, store.unsent = status, unsent
        failed = runner.invoke(app, [*command, "-o", str(tmp_path / "out")])
        assert (failed.exit_code, list(tmp_path.iterdir())) == (1, [])
        store.status, store.unsent = 200, 0
        assert runner.invoke(app, [*command, "-o", str(tmp_path / "out")]).exit_code == 0
    assert (tmp_path / "out").read_text() == '"content"'


def test_a_file_that_was_there_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with running(Store(), monkeypatch) as runner:
        assert runner.invoke(app, ["fetch", "a1", "-o", str(tmp_path / "out")]).exit_code == 1
    assert (tmp_path / "out").read_text() == "mine"


def test_a_file_that_shrinks_while_sent_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"ten  bytes")
    patches: list[bytes] = []

    def shrinking(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            (tmp_path / "file").write_bytes(b"ten")
            return httpx.Response(201, headers={"Location": "/v1/uploads/u1"})
        patches.append(request.content)
        assert len(patches) < 5, "nothing more is sent"
        return httpx.Response(204, headers={"Upload-Offset": str(sum(map(len, patches)))})

    with refusing(shrinking) as client, pytest.raises(Usage, match="file was changed while it was sent"):
        upload(client, tmp_path / "file")
    assert patches == [b"ten"]
