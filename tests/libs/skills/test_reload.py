"""The catalogue follows its folders: within a second, as a whole, and without losing a working skill."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import rmtree

import pytest

from libs.skills import Catalogue, Place, Skills, Source
from tests.libs.skills.folders import TOOL, skill

WITHIN = 60.0
"""Seconds, generous so that a slow machine does not fail the test."""


@pytest.fixture
def places(tmp_path: Path) -> tuple[Place, Place]:
    return Place(tmp_path / "user", Source.USER), Place(tmp_path / "bundled", Source.BUNDLED)


@asynccontextmanager
async def watched(places: tuple[Place, ...]) -> AsyncIterator[Catalogue]:
    catalogue = Catalogue(places, every=0.01)
    watching = asyncio.ensure_future(catalogue.watch())
    try:
        async with asyncio.timeout(WITHIN):
            yield catalogue
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def after(catalogue: Catalogue, change: Callable[[], object]) -> Skills:
    """Wait for the view after a change."""
    number = catalogue.number
    change()
    return await catalogue.changed(number)


@pytest.mark.requirement("S2-24")
async def test_a_new_skill_is_there_without_a_restart(places: tuple[Place, Place]) -> None:
    async with watched(places) as catalogue:
        assert catalogue.skills.skills == {}
        view = await after(catalogue, lambda: skill(places[0].folder))
        assert (view.skills["demo"].source, view.problems) == (Source.USER, {})


@pytest.mark.requirement("S4-17")
async def test_edit_changes_the_digest_of_its_skill_alone(
    places: tuple[Place, Place],
) -> None:
    skill(places[0].folder, tools_dot_yaml=TOOL)
    skill(places[0].folder, "other", tools_dot_yaml=TOOL)
    async with watched(places) as catalogue:
        before = catalogue.skills
        view = await after(catalogue, lambda: skill(places[0].folder, about="Looks again."))
        assert view.tool("demo.look").digest != before.tool("demo.look").digest
        assert view.skills["other"] is before.skills["other"]


@pytest.mark.requirement("S2-24")
async def test_user_skill_hides_the_bundled_one_until_deleted(places: tuple[Place, Place]) -> None:
    skill(places[1].folder, about="From the house.")
    async with watched(places) as catalogue:
        mine = await after(catalogue, lambda: skill(places[0].folder, about="From me."))
        assert (mine.skills["demo"].description, mine.hidden[0].description) == ("From me.", "From the house.")
        view = await after(catalogue, lambda: rmtree(places[0].folder / "demo"))
        assert (view.skills["demo"].description, view.hidden) == ("From the house.", ())


@pytest.mark.parametrize(
    "broken",
    [
        lambda folder: (folder / "SKILL.md").write_text(""),
        lambda folder: (folder / "SKILL.md").unlink(),
        lambda folder: (folder / "tools.yaml").write_text("tools: ["),
        lambda folder: (folder / "link").symlink_to("/etc"),
        lambda folder: (folder / "huge.md").write_bytes(bytes(1_000_001)),
    ],
    ids=["emptied", "page gone", "half a file", "a link", "huge"],
)
async def test_broken_edit_keeps_the_last_valid_version_and_reports_problems(
    places: tuple[Place, Place], broken: Callable[[Path], object]
) -> None:
    folder = skill(places[0].folder, tools_dot_yaml=TOOL)
    async with watched(places) as catalogue:
        good = catalogue.skills.skills["demo"]
        view = await after(catalogue, lambda: broken(folder))
        assert view.skills["demo"] is good
        assert view.problems[folder]


async def test_repaired_skill_is_loaded_again(places: tuple[Place, Place]) -> None:
    folder = skill(places[0].folder)
    async with watched(places) as catalogue:
        await after(catalogue, lambda: (folder / "SKILL.md").write_text(""))
        view = await after(catalogue, lambda: skill(places[0].folder, text="Better."))
        assert (view.skills["demo"].instructions, view.problems) == ("Better.", {})


def test_skill_is_loaded_once_its_folder_stops_changing(places: tuple[Place, Place]) -> None:
    catalogue = Catalogue(places)
    skill(places[0].folder, text="First half")
    assert not catalogue.look()
    skill(places[0].folder, text="First half, and second.")
    assert not catalogue.look()
    assert catalogue.look()
    assert catalogue.skills.skills["demo"].instructions == "First half, and second."


def test_a_folder_that_is_replaced_is_never_missing(places: tuple[Place, Place]) -> None:
    folder = skill(places[0].folder, text="Old.")
    catalogue = Catalogue(places)
    folder.rename(folder.with_name(".away"))
    assert not catalogue.look()
    skill(places[0].folder, text="New.")
    assert not catalogue.look()
    assert "demo" in catalogue.skills.skills
    assert catalogue.look()
    assert catalogue.skills.skills["demo"].instructions == "New."


def test_unchanged_skills_are_not_reloaded(places: tuple[Place, Place]) -> None:
    skill(places[0].folder)
    catalogue = Catalogue(places)
    before = catalogue.skills
    assert not any([catalogue.look(), catalogue.look()])
    assert (catalogue.skills, catalogue.number) == (before, 1)
    assert catalogue.skills is before


def test_unreadable_place_keeps_its_skills(places: tuple[Place, Place]) -> None:
    top = skill(places[0].folder).parent
    catalogue = Catalogue(places)
    top.rename(top.with_name("away"))
    top.symlink_to(top)  # to look into it is an error, as with a mount that hangs
    assert catalogue.look()
    assert (list(catalogue.skills.skills), list(catalogue.skills.problems)) == (["demo"], [top])
    assert not catalogue.look()
    top.unlink()
    top.with_name("away").rename(top)
    assert catalogue.look()
    assert (list(catalogue.skills.skills), catalogue.skills.problems) == (["demo"], {})


async def test_fixed_catalogue_has_nothing_to_watch() -> None:
    async with asyncio.timeout(WITHIN):
        await Catalogue.fixed(Skills()).watch()
