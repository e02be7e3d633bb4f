"""Folders that a person allows: recorded once, for this account's eyes, and never one that holds keys."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from libs.workspace.errors import BadRoot
from services.cli import roots
from services.cli.address import Address
from services.cli.errors import Usage


@pytest.fixture
def here(tmp_path: Path) -> Address:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    return Address("http://127.0.0.1:8010", "suma_x", "key", data, roots=(tmp_path / "configured",))


def folder(path: Path) -> Path:
    path.mkdir()
    return path


def test_nothing_is_allowed_before_someone_allowed_it(here: Address, tmp_path: Path) -> None:
    assert not roots.covers(roots.allowed(here), folder(tmp_path / "Downloads"))


def test_an_allowed_folder_stays_allowed_with_all_in_it(here: Address, tmp_path: Path) -> None:
    downloads = folder(tmp_path / "Downloads")
    roots.allow(here, downloads)
    roots.allow(here, folder(tmp_path / "Pictures"))
    assert roots.covers(roots.allowed(here), downloads / "deep" / "er")


def test_of_many_terminals_that_allow_a_folder_at_once_none_is_forgotten(here: Address, tmp_path: Path) -> None:
    wanted = [folder(tmp_path / f"folder {n}") for n in range(16)]
    ready = Barrier(len(wanted))

    def terminal(one: Path) -> None:
        ready.wait(timeout=10)
        roots.allow(here, one)

    with ThreadPoolExecutor(len(wanted)) as terminals:
        list(terminals.map(terminal, wanted))
    assert {*wanted} <= {*roots.allowed(here)}


@pytest.mark.requirement("A5")
def test_a_sibling_with_the_same_beginning_is_not_allowed(here: Address, tmp_path: Path) -> None:
    roots.allow(here, folder(tmp_path / "work"))
    assert not roots.covers(roots.allowed(here), folder(tmp_path / "work-evil"))


def test_the_list_is_for_this_account_alone_and_holds_no_configured_root(here: Address, tmp_path: Path) -> None:
    roots.allow(here, folder(tmp_path / "Downloads"))
    assert here.data is not None
    listed = here.data / "roots.json"
    assert stat.S_IMODE(listed.stat().st_mode) == 0o600
    assert json.loads(listed.read_text()) == [str((tmp_path / "Downloads").resolve())]


def test_a_folder_that_holds_our_own_data_is_never_allowed(here: Address, tmp_path: Path) -> None:
    with pytest.raises(BadRoot):
        roots.allow(here, tmp_path)
    assert here.data is not None
    assert not (here.data / "roots.json").exists()


def test_another_machine_s_roots_are_not_ours_to_add_to(tmp_path: Path) -> None:
    there = Address("https://suma.example", "suma_x", "SUMA_API_KEY", None)
    with pytest.raises(Usage, match="SUMA_ROOTS"):
        roots.allow(there, tmp_path)
