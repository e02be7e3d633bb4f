from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from libs.embedded import datadir
from libs.embedded.datadir import (
    AlreadyRunning,
    ForeignDirectory,
    NewerFormat,
    NoKey,
    Owner,
    UnusableDirectory,
    existing,
    location,
    prepare,
)
from libs.errors import NotFound
from tests.libs.embedded.conftest import Killed


def never() -> str:
    raise AssertionError("a second key was minted")


class TestLocation:
    def test_suma_variable_is_the_first_choice(self) -> None:
        assert location({"SUMA_DATA_DIR": "/a", "XDG_DATA_HOME": "/b"}) == Path("/a")

    def test_xdg_data_home_is_the_second_choice(self) -> None:
        assert location({"XDG_DATA_HOME": "/b"}) == Path("/b/suma")

    @pytest.mark.parametrize("environment", [{}, {"XDG_DATA_HOME": ""}, {"XDG_DATA_HOME": "relative"}])
    def test_default_data_home_is_the_last_choice(self, environment: dict[str, str]) -> None:
        assert location(environment) == Path.home() / ".local/share/suma"

    def test_a_tilde_means_the_home_folder(self) -> None:
        assert location({"SUMA_DATA_DIR": "~/suma"}) == Path.home() / "suma"


class TestPrepare:
    def test_a_new_directory_is_closed_to_others(self, tmp_path: Path) -> None:
        assert prepare(tmp_path / "x/y").path.stat().st_mode & 0o777 == 0o700

    def test_a_second_start_finds_its_own(self, data: Path) -> None:
        assert prepare(data).path == prepare(data).path

    def test_one_opened_to_others_meanwhile_is_closed_again(self, data: Path) -> None:
        prepare(data).path.chmod(0o755)
        assert prepare(data).path.stat().st_mode & 0o777 == 0o700

    def test_foreign_folder_is_refused_and_left_unchanged(self, data: Path) -> None:
        data.chmod(0o755)
        (data / "thesis.txt").touch()
        with pytest.raises(ForeignDirectory, match="set SUMA_DATA_DIR to an empty folder"):
            prepare(data)
        assert [entry.name for entry in data.iterdir()] == ["thesis.txt"]
        assert data.stat().st_mode & 0o777 == 0o755

    def test_foreign_format_marker_is_refused(self, data: Path) -> None:
        (data / "format").write_text("markdown")
        with pytest.raises(ForeignDirectory):
            prepare(data)

    def test_a_newer_format_is_refused(self, data: Path) -> None:
        prepare(data)
        (data / "format").write_text(f"{datadir.FORMAT + 1}\n")
        with pytest.raises(NewerFormat, match="use the newer Suma"):
            prepare(data)

    def test_a_file_in_its_place_is_refused_in_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(UnusableDirectory) as refusal:
            prepare(tmp_path / "file")
        assert "set SUMA_DATA_DIR" in str(refusal.value)
        assert "\n" not in str(refusal.value)

    def test_start_succeeds_after_one_killed_while_marking_the_folder(self, data: Path) -> None:
        (data / "format.new").touch()
        prepare(data)
        assert existing(data).path == data

    def test_nothing_exists_before_the_first_start(self, data: Path) -> None:
        with pytest.raises(NotFound, match="suma up"):
            existing(data)


class TestLock:
    def test_second_start_names_the_running_process(self, data: Path) -> None:
        ours = prepare(data)
        with ours.held() as hold:
            hold.announce("http://127.0.0.1:8010")
            with pytest.raises(AlreadyRunning, match=r"process \d+ at http://127\.0\.0\.1:8010"), prepare(data).held():
                pass
            assert ours.owner() is not None, "the refused one must not wipe what the owner said"

    def test_start_succeeds_after_the_first_process_left(self, data: Path) -> None:
        with prepare(data).held():
            pass
        with prepare(data).held():
            pass

    def test_the_owner_is_named_only_while_it_holds_the_directory(self, data: Path) -> None:
        ours = prepare(data)
        with ours.held() as hold:
            hold.announce("http://127.0.0.1:8010")
            assert ours.owner() == Owner(pid=os.getpid(), url="http://127.0.0.1:8010")
        assert ours.owner() is None

    def test_a_platform_that_fails_is_not_named_afterwards(self, data: Path) -> None:
        ours = prepare(data)
        with pytest.raises(ZeroDivisionError), ours.held():
            1 / 0  # noqa: B018 - any failure of the platform
        assert ours.owner() is None

    def test_a_shorter_address_leaves_nothing_of_the_longer_one(self, data: Path) -> None:
        ours = prepare(data)
        with ours.held() as hold:
            hold.announce("http://127.0.0.1:18010")
            hold.announce("http://[::1]:1")
            assert ours.owner() == Owner(pid=os.getpid(), url="http://[::1]:1")

    def test_live_owner_differs_from_a_recorded_one(self, data: Path) -> None:
        ours = prepare(data)
        assert ours.live_owner() is None
        with ours.held() as hold:
            hold.announce("http://127.0.0.1:8010", model="offline")
            assert ours.live_owner() == Owner(os.getpid(), "http://127.0.0.1:8010", "offline")
            recorded = (data / "lock").read_text()
        (data / "lock").write_text(recorded)
        assert ours.owner() is not None
        assert ours.live_owner() is None

    def test_killed_owner_does_not_block_the_next_start(self, data: Path, killed: Killed) -> None:
        killed("""
            from libs.embedded.datadir import prepare
            async def main(data):
                with prepare(data).held() as hold:
                    hold.announce("http://127.0.0.1:8010")
                    die()
        """)
        with prepare(data).held():
            pass


class TestKey:
    def test_the_key_is_made_once_and_for_its_owner_alone(self, data: Path) -> None:
        ours = prepare(data)
        assert ours.key_or_new(lambda: "sk-1") == "sk-1"
        assert ours.key_or_new(never) == "sk-1"
        assert ours.key_file.stat().st_mode & 0o777 == 0o600

    def test_command_line_reads_the_key(self, data: Path) -> None:
        prepare(data).key_or_new(lambda: "sk-1")
        assert existing(data).key() == "sk-1"

    def test_key_is_missing_before_the_first_start(self, data: Path) -> None:
        with pytest.raises(NoKey, match="suma up"):
            prepare(data).key()

    def test_concurrent_starts_create_one_directory_and_one_key(self, tmp_path: Path) -> None:
        def start(n: int) -> str:
            return prepare(tmp_path / "shared").key_or_new(lambda: f"sk-{n}")

        with ThreadPoolExecutor(16) as starts:
            keys = set(starts.map(start, range(64)))
        assert len(keys) == 1
        assert sorted(path.name for path in (tmp_path / "shared").iterdir()) == ["format", "key"]

    def test_partially_written_key_of_a_killed_start_is_not_used(self, data: Path) -> None:
        ours = prepare(data)
        (data / "key.new").write_text("sk-")
        assert ours.key_or_new(lambda: "sk-1") == "sk-1"
