"""`suma up`, `suma status` and `suma stop` on one data directory, as a person uses them."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from services import catalog
from tests.journeys.installation import installation

NO_SERVER = 4


async def test_status_names_each_service_and_stop_ends_them(tmp_path: Path) -> None:
    async with installation(tmp_path) as own:
        await own.start()
        shown = await own.suma("status", "--json")
        assert shown.code == 0, shown.err
        told = json.loads(shown.out)
        assert (told["url"], told["model"], told["data_dir"]) == (own.url, "offline", str(own.data))
        assert all(told["services"][name].startswith("ready") for name in catalog.NAMES)
        assert own.process is not None
        assert told["pid"] == own.process.pid
        examined = await own.suma("doctor", "--json")
        checks = {check["name"]: check for check in json.loads(examined.out)["checks"]}
        assert (examined.code, checks["platform"]["detail"]) == (0, f"ready at {own.url}")
        assert checks["PostgreSQL"]["detail"].endswith("(embedded)")

        stopped = await own.suma("stop")
        assert stopped.code == 0, stopped.err
        assert str(own.process.pid) in stopped.out
        assert await own.process.wait() == 0
        own.process = None
        assert own.servers() == []
        gone = await own.suma("status")
        assert (gone.code, "not running" in gone.out) == (NO_SERVER, True)


@pytest.mark.parametrize("how", [signal.SIGKILL])
async def test_stop_touches_no_stranger_after_a_kill(tmp_path: Path, how: signal.Signals) -> None:
    async with installation(tmp_path) as own:
        await own.start()
        await own.end(how)
        # The dead platform's record now names a process that is not Suma's.
        (own.data / "lock").write_text(json.dumps({"pid": os.getpid(), "url": "http://127.0.0.1:9"}))
        stopped = await own.suma("stop")
        assert (stopped.code, stopped.out.strip()) == (0, "Suma is not running.")


async def test_welcome_names_the_data_directory_that_was_chosen(tmp_path: Path) -> None:
    async with installation(tmp_path) as own:
        process = await replace(own, by_command=True).begin("services.cli", "up")
        assert process.stdout is not None
        hint = ""
        while " run " not in hint:
            hint = (await process.stdout.readline()).decode()
            assert hint, "the platform ended"
        process.terminate()
        await process.communicate()
        assert f"SUMA_DATA_DIR={own.data} " in hint
