"""No path escapes the folder, even if links are swapped meanwhile, with both resolvers."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pytest

from libs.workspace.errors import BadRoot
from libs.workspace.safe_dir import Resolver, SafeDir, by_component, exchange, openat2, place, resolver
from tests.libs.workspace.mounts import apart, mounted
from tests.libs.workspace.trees import born, forked, grow

WAYS = [openat2, by_component]


@pytest.fixture(params=WAYS, ids=["openat2", "by component"])
def resolve(request: pytest.FixtureRequest) -> Resolver:
    way: Resolver = request.param
    if way is openat2 and resolver() is not openat2:
        pytest.skip("this kernel has no openat2")
    return way


@pytest.mark.requirement("A5", "S4-29")
@pytest.mark.parametrize("path", ["link/secret", "docs/up/secret", "link", "loop/x"])
def test_a_link_is_not_followed(tmp_path: Path, resolve: Resolver, path: str) -> None:
    grow(tmp_path / "outside", {"secret": "s"})
    root = grow(tmp_path / "work", {"link": "-> ../outside", "docs/up": "-> ../../outside", "loop": "-> loop"})
    with SafeDir.open(root, resolve) as safe_dir, pytest.raises(OSError) as refused:
        safe_dir.at(path, os.O_RDONLY)
    assert refused.value.errno in (errno.ELOOP, errno.ENOTDIR)


@pytest.mark.requirement("A5")
def test_parent_reference_cannot_leave_the_root(tmp_path: Path, resolve: Resolver) -> None:
    root = grow(tmp_path / "work", {"a/b": "x"})
    with SafeDir.open(root, resolve) as safe_dir, pytest.raises(OSError) as refused:
        safe_dir.at("a/../../work", os.O_RDONLY)
    assert refused.value.errno == errno.EXDEV


def test_path_beyond_the_kernel_limit_is_opened_in_pieces(tmp_path: Path, resolve: Resolver) -> None:
    parts = [f"{number:02}" + "d" * 198 for number in range(30)]
    fd = os.open(tmp_path, os.O_RDONLY)
    for part in parts:
        os.mkdir(part, dir_fd=fd)
        inner = os.open(part, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(os.open("deep", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)
    with SafeDir.open(tmp_path, resolve) as safe_dir:
        assert safe_dir.signature("/".join([*parts, "deep"])) is not None
        assert len(safe_dir.listing("")) == 31


@pytest.mark.requirement("A5")
def test_swapped_links_never_expose_a_file_from_outside(tmp_path: Path, resolve: Resolver) -> None:
    grow(tmp_path / "outside", {"file": "secret"})
    root = grow(tmp_path / "work", {"dir/file": "ours", "trap": "-> ../outside"})

    def attack() -> None:
        fd = os.open(root, os.O_RDONLY)
        while True:
            exchange(fd, "dir", fd, "trap")

    attacker = born(attack)
    try:
        with SafeDir.open(root, resolve) as safe_dir:
            contents = {_content(safe_dir) for _ in range(3000)}
    finally:
        os.kill(attacker, signal.SIGKILL)
        os.waitpid(attacker, 0)
    assert "secret" not in contents
    assert "refused" in contents


def test_a_rename_never_replaces(tmp_path: Path) -> None:
    root = grow(tmp_path, {"a": "a", "b": "b"})
    with SafeDir.open(root) as safe_dir, pytest.raises(FileExistsError):
        place(safe_dir.fd, "a", safe_dir.fd, "b")
    assert (root / "b").read_text() == "b"


def test_a_root_that_is_not_there_is_a_bad_root(tmp_path: Path) -> None:
    with pytest.raises(BadRoot), SafeDir.open(tmp_path / "none"):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
@pytest.mark.requirement("S4-29")
def test_another_mount_is_not_entered(tmp_path: Path, resolve: Resolver) -> None:
    root = grow(tmp_path / "work", {"inner/x": "x"})
    assert forked(lambda: _try_mounted(root, resolve)) == 0


def _try_mounted(root: Path, resolve: Resolver) -> None:
    """Run in a child with mounts of its own, so that nothing stays mounted."""
    apart()
    mounted("tmpfs", root / "inner", "tmpfs")
    with SafeDir.open(root, resolve) as safe_dir, pytest.raises(OSError) as refused:
        safe_dir.at("inner", os.O_RDONLY)
    assert refused.value.errno == errno.EXDEV


def _content(safe_dir: SafeDir) -> str:
    try:
        fd = safe_dir.at("dir/file", os.O_RDONLY)
    except OSError:
        return "refused"
    with os.fdopen(fd) as stream:
        return stream.read()
