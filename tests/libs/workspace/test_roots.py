"""Only suitable folders may be a workspace."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from libs.workspace.errors import BadRoot
from libs.workspace.roots import Root, belongs, check_root
from tests.libs.workspace.trees import forked


@pytest.fixture
def home(disk: Path) -> Path:
    for name in ("Downloads", ".ssh", ".config/app", "suma/blobs"):
        (disk / "home" / name).mkdir(parents=True)
    return disk / "home"


def test_a_folder_in_the_home_is_a_root(home: Path) -> None:
    assert check_root(home / "Downloads", home / "suma", home) == home / "Downloads"


@pytest.mark.requirement("S4-29", "A5")
@pytest.mark.parametrize("name", [".", "..", ".ssh", ".config", ".config/app", "suma", "suma/blobs", "Downloads/none"])
def test_credentials_suma_data_and_their_parent_folders_are_refused(home: Path, name: str) -> None:
    with pytest.raises(BadRoot):
        check_root(home / name, home / "suma", home)


@pytest.mark.parametrize("path", ["/", "/etc", "/dev", "/dev/shm", "/proc/self", "/sys/kernel"])
def test_the_system_is_refused(home: Path, path: str) -> None:
    with pytest.raises(BadRoot, match=r"is a system folder; choose a folder of your own$|cannot be a workspace$"):
        check_root(Path(path), home / "suma", home)


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no memory to put files in")
def test_a_folder_in_memory_is_a_root(home: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        assert check_root(Path(folder), home / "suma", home) == Path(folder)


def test_a_link_to_credentials_is_refused(home: Path) -> None:
    (home / "Downloads/keys").symlink_to(home / ".ssh")
    with pytest.raises(BadRoot, match="credentials"):
        check_root(home / "Downloads/keys", home / "suma", home)


def test_credentials_kept_elsewhere_by_a_link_are_refused(home: Path) -> None:
    (home / "Downloads/aws").mkdir()
    (home / ".aws").symlink_to(home / "Downloads/aws")
    with pytest.raises(BadRoot, match="credentials"):
        check_root(home / "Downloads", home / "suma", home)


def test_a_file_is_refused(home: Path) -> None:
    (home / "Downloads/file").touch()
    with pytest.raises(BadRoot, match="not a folder"):
        check_root(home / "Downloads/file", home / "suma", home)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_users_folder_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    def as_nobody() -> None:
        os.setresuid(65534, 65534, 65534)
        with pytest.raises(BadRoot):
            check_root(Path("/opt"), Path("/nonexistent/suma"), Path("/nonexistent/home"))

    assert forked(as_nobody) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_folder_that_can_only_be_read_is_a_root(home: Path) -> None:
    folder = home / "Downloads"
    os.chown(folder, 65534, 65534)
    folder.chmod(0o555)
    for above in folder.parents:
        above.chmod(above.stat().st_mode | 0o011)

    def as_nobody() -> None:
        os.setresuid(65534, 65534, 65534)
        assert check_root(folder, home / "suma", home) == folder

    assert forked(as_nobody) == 0


@pytest.mark.parametrize(
    ("folder", "tenant", "belonging"),
    [
        ("/srv/x", "local", True),
        ("/srv/x", "acme", False),
        ("/srv/acme/x", "acme", True),
        ("/srv/acme/x", "local", False),
        ("/srv", "local", False),
        ("/both", "local", True),
        ("/both/x", "acme", True),
        ("/other", "local", False),
    ],
)
def test_folder_belongs_to_the_tenant_of_its_nearest_root(folder: str, tenant: str, belonging: bool) -> None:
    roots = [Root.of(text) for text in ("/srv", "acme=/srv/acme", "/both", "acme=/both")]
    assert belongs(Path(folder), tenant, [root for root in roots if isinstance(root, Root)]) is belonging


def test_a_root_is_written_with_or_without_its_tenant() -> None:
    assert Root.of("/srv/a=b") == Root(Path("/srv/a=b"))
    assert Root.of("acme=/srv") == Root.of({"path": "/srv", "tenant": "acme"}) == Root(Path("/srv"), "acme")


@pytest.mark.parametrize("name", ["new\nline", "esc\x1b[2J", "\u202eflipped"])
def test_root_with_an_unprintable_name_is_refused_on_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(BadRoot) as refused:
        check_root(tmp_path / name, tmp_path / "data", tmp_path / "home")
    assert str(refused.value).isprintable()
