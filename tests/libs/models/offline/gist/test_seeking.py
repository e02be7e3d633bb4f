"""Looks that a story asks for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from libs.models.offline import OfflineModel
from libs.models.offline.gist.asking import question
from libs.models.offline.gist.seeking import heard
from libs.models.offline.gist.story import Story
from libs.models.offline.ground import Ground
from libs.models.ports import Drafted
from libs.skills import Categories, ToolDefinition
from tests.libs.models.offline.gist.conftest import task

pytestmark = pytest.mark.requirement("S4-44")
NAMES = ("Soups/", "Tennis/", "lease 1987.pdf", "lease 1992.pdf", "warden letter.txt")
PATHS = ("Soups/leek.txt", "Soups/minestrone.txt", "Tennis/final.mp4", "Tennis/draw.jpg", *NAMES[2:])


@pytest.fixture
def told(categories: Categories) -> Story:
    return Story(
        "", Ground.of("/x/club", {"names": NAMES, "paths": PATHS}), categories, datetime(2026, 3, 1, tzinfo=UTC)
    )


def looks(told: Story, text: str) -> list[tuple[str, object]]:
    story = Story(text, told.ground, told.categories, told.now)
    return [
        (tool, args.get("query") or args.get("include") or args["path"])
        for deed in heard(story)
        for tool, args in deed.calls
    ]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("My aunt has a glut of celery this year. Which of my soups had celery in?", "celery"),
        ("Meine Tante hat so viel Sellerie. In welcher Notiz stand was mit Sellerie?", "Sellerie"),
        ("mi tía tiene mucho apio, ¿en qué nota hablo del apio?", "apio"),
    ],
)
def test_what_is_asked_about_is_searched_and_the_story_is_not(told: Story, text: str, query: str) -> None:
    assert looks(told, text)[0] == ("search-files.search", query)


@pytest.mark.parametrize(
    "text",
    [
        "A nice man at the archive asked me what I have got on the lease of 1987, and I could not say. What is there?",
        "Der Anwalt will kommen. Ich brauch die lease 1987, wo ist die denn?",
    ],
)
def test_names_that_have_it_are_listed_alone(told: Story, text: str) -> None:
    assert looks(told, text)[0] == ("manage-files.list", ["lease 1987.pdf"])


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("what have I got on the minestrone? anything, letters too", "minestrone"),
        ("Was hab ich denn zur lease 1987?", "lease 1987"),
        ("¿qué tengo sobre minestrone?", "minestrone"),
        ("what have I got on lease 1?", "lease 1"),
    ],
)
def test_whoever_asks_for_all_about_something_asks_for_texts_and_names(told: Story, text: str, query: str) -> None:
    assert looks(told, text)[0] == ("search-files.search", query)


@pytest.mark.parametrize(
    "text",
    [
        "which contract still hasn't been signed?",
        "which contracts are not signed yet",
    ],
)
async def test_what_names_say_is_signed_is_none_of_those_that_are_not(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    paths = ("Contract Acme signed.pdf", "Contract Beta.pdf", "plan.txt")
    outcome = await model.plan(task(text, paths), catalogue)
    assert isinstance(outcome, Drafted), outcome
    assert outcome.plan.steps[0].args["include"] == ["Contract Beta.pdf"]


def test_a_greeting_before_a_question_is_no_order(told: Story) -> None:
    text = "Good morning. I am trying to find in which of our soups leek was mentioned."
    assert looks(told, text)[0] == ("search-files.search", "leek")


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("where's last year's van insurance", "2025"),
        ("find this years van insurance", "2026"),
        ("wo ist die van insurance vom letzten Jahr", "2025"),
        ("¿dónde está el van insurance de este año?", "2026"),
    ],
)
async def test_of_a_year_is_what_names_say_is_of_it(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, year: str
) -> None:
    paths = ("van insurance 2025.pdf", "van insurance 2026.pdf", "van keys.txt")
    outcome = await model.plan(task(text, paths), catalogue)
    assert isinstance(outcome, Drafted), outcome
    assert [step.args["include"] for step in outcome.plan.steps] == [[f"van insurance {year}.pdf"]]


@pytest.mark.parametrize(
    "text", ["necesito el turno de enero", "dónde está el turno de enero", "I need the turno of January"]
)
async def test_of_a_month_is_what_names_say_is_of_it_whatever_its_year(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    outcome = await model.plan(task(text, ("turnos enero 2024.xlsx", "turnos abril 2024.xlsx")), catalogue)
    assert isinstance(outcome, Drafted), outcome
    assert [step.args["include"] for step in outcome.plan.steps] == [["turnos enero 2024.xlsx"]]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("how much was that mower blade", "mower blade"),
        ("what time is the registrar coming", "registrar"),
        ("¿a qué hora llega el embrague?", "embrague"),
    ],
)
def test_what_was_only_noted_down_is_searched_for(told: Story, text: str, query: str) -> None:
    assert ("search-files.search", query) in looks(told, text)


def test_the_folder_that_was_told_of_is_theirs(told: Story) -> None:
    text = "I filmed far too much at Tennis again. How many videos are in there?"
    assert looks(told, text)[0] == ("manage-files.list", ["Tennis/final.mp4"])


@pytest.mark.parametrize(
    "text",
    [
        "Can you put the soups somewhere safe?",
        "delete the leases, which are old",
        "tu die Suppen dahin, wo sie hingehören",
        "borra las sopas, ¿vale?",
        "Thanks, that was all for today.",
    ],
)
def test_who_wants_a_change_or_nothing_gets_no_look(told: Story, text: str) -> None:
    assert question(Story(text, told.ground, told.categories, told.now)) is None


@pytest.mark.parametrize(
    "text", ["do I have some video two times?", "hab ich hier fotos doppelt?", "¿tengo fotos por duplicado aquí?"]
)
def test_what_is_there_twice_is_compared_and_not_searched(told: Story, text: str) -> None:
    story = Story(text, told.ground, told.categories, told.now)
    assert [deed.calls[0][0] for deed in heard(story)] == ["remove-duplicates.scan"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("how much does Mr Harlow owe us?", "Harlow"),
        ("wie viel schuldet uns denn der Harlow?", "Harlow"),
        ("¿cuánto nos debe don Harlow?", "Harlow"),
    ],
)
def test_an_amount_is_searched_for_though_a_file_is_called_like_who_owes_it(told: Story, text: str, query: str) -> None:
    assert looks(told, text)[0] == ("search-files.search", query)


def test_what_no_photo_can_say_is_left_aside_where_a_time_tells_which(told: Story) -> None:
    story = Story(
        "which photos do I have of the carnival, I mean from February", told.ground, told.categories, told.now
    )
    (tool, args) = next(heard(story)).calls[0]
    assert (tool, args["modified_after"], args["modified_before"]) == ("manage-files.list", "2026-02-01", "2026-03-01")
