"""Folders that a person allows: recorded once, for this account's eyes, and never one that holds keys."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from libs.workspace.errors import BadRoot
from libs.workspace.roots import Root
from services.cli import roots
from services.cli.address import Address
from services.cli.errors import Usage


@pytest.fixture
def here(tmp_path: Path) -> Address:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    return Address("http://127.0.0.1:8010", "suma_x", "key", data, roots=(Root(tmp_path / "configured"),))


def folder(path: Path) -> Path:
    path.mkdir()
    return path


def test_no_folder_is_allowed_at_first(here: Address, tmp_path: Path) -> None:
    assert not roots.covers(here, "local", folder(tmp_path / "Downloads"))


def test_an_allowed_folder_stays_allowed_with_all_in_it(here: Address, tmp_path: Path) -> None:
    downloads = folder(tmp_path / "Downloads")
    roots.allow(here, downloads, "local")
    roots.allow(here, folder(tmp_path / "Pictures"), "local")
    assert roots.covers(here, "local", downloads / "deep" / "er")


def test_concurrent_permissions_are_all_recorded(here: Address, tmp_path: Path) -> None:
    wanted = [folder(tmp_path / f"folder {n}") for n in range(16)]
    ready = Barrier(len(wanted))

    def terminal(one: Path) -> None:
        ready.wait(timeout=60)
        roots.allow(here, one, "local")

    with ThreadPoolExecutor(len(wanted)) as terminals:
        list(terminals.map(terminal, wanted))
    assert all(roots.covers(here, "local", one) for one in wanted)


@pytest.mark.requirement("A5")
def test_a_sibling_with_the_same_beginning_is_not_allowed(here: Address, tmp_path: Path) -> None:
    roots.allow(here, folder(tmp_path / "work"), "local")
    assert not roots.covers(here, "local", folder(tmp_path / "work-evil"))


def test_roots_list_is_private_without_configured_roots(here: Address, tmp_path: Path) -> None:
    roots.allow(here, folder(tmp_path / "Downloads"), "local")
    assert here.data is not None
    listed = here.data / "roots.json"
    assert stat.S_IMODE(listed.stat().st_mode) == 0o600
    assert json.loads(listed.read_text()) == [str((tmp_path / "Downloads").resolve())]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes for other users")
def test_root_leaves_the_list_to_the_owner_of_the_data(here: Address, tmp_path: Path) -> None:
    assert here.data is not None
    os.chown(here.data, 65534, 65534)
    roots.allow(here, folder(tmp_path / "Downloads"), "local")
    assert {file.stat().st_uid for file in here.data.iterdir()} == {65534}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user and return")
@pytest.mark.parametrize("name", ["roots.json", "roots.lock"])
def test_a_list_of_another_user_is_refused_with_the_remedy(here: Address, tmp_path: Path, name: str) -> None:
    downloads = folder(tmp_path / "Downloads")
    assert here.data is not None
    (here.data / name).write_text("[]")
    (here.data / name).chmod(0o600)
    for path in (here.data, downloads):
        os.chown(path, 65534, 65534)
    for above in here.data.parents:
        above.chmod(above.stat().st_mode | 0o011)
    os.seteuid(65534)
    try:
        with pytest.raises(Usage, match=rf"{name} belongs to another user; give it to the owner of .* with chown"):
            roots.allow(here, downloads, "local")
    finally:
        os.seteuid(0)


def test_a_folder_that_holds_our_own_data_is_never_allowed(here: Address, tmp_path: Path) -> None:
    with pytest.raises(BadRoot):
        roots.allow(here, tmp_path, "local")
    assert here.data is not None
    assert not (here.data / "roots.json").exists()


def test_roots_of_a_remote_server_cannot_be_extended(tmp_path: Path) -> None:
    there = Address("https://suma.example", "suma_x", "SUMA_API_KEY", None)
    with pytest.raises(Usage, match="SUMA_ROOTS"):
        roots.allow(there, tmp_path, "local")


def test_a_folder_is_allowed_for_one_tenant_alone(here: Address, tmp_path: Path) -> None:
    ours, theirs = folder(tmp_path / "ours"), folder(tmp_path / "theirs")
    roots.allow(here, ours, "local")
    roots.allow(here, theirs, "acme")
    covered = [(roots.covers(here, who, one)) for who in ("local", "acme") for one in (ours, theirs)]
    assert covered == [True, False, False, True]


def test_withdrawn_folder_is_not_allowed_any_more(here: Address, tmp_path: Path) -> None:
    kept, gone = folder(tmp_path / "kept"), folder(tmp_path / "gone")
    for one in (kept, gone, gone):
        roots.allow(here, one, "local")
    roots.withdraw(here, gone, "local")
    assert roots.covers(here, "local", kept)
    assert not roots.covers(here, "local", gone)


def test_folder_of_the_settings_cannot_be_withdrawn(here: Address, tmp_path: Path) -> None:
    with pytest.raises(Usage, match="suma roots list"):
        roots.withdraw(here, folder(tmp_path / "configured"), "local")
