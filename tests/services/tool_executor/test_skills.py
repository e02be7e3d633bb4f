"""Skills at work: a look into one, a folder's own by approval, and tools that change while they are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from libs import ids
from libs.clients.calls import call
from libs.database import Dsns
from libs.errors import Denied, NotFound, Rejected
from libs.events import ToolDenied, ToolFailed, ToolRequested, ToolSucceeded
from libs.events.committee import Task
from libs.events.topics import EXECUTOR
from libs.events.values import Hitl
from libs.identity import grants
from libs.models.ports import PlanDraft, PlannerOutcome
from libs.skills import Catalogue, Place, Skills, Source, ToolDefinition
from tests.libs.skills.folders import TOOL, skill
from tests.support.platform import REPOSITORY, TENANT, WHO, RunningPlatform, plan, run_platform, scripted_model
from tests.support.scripted import Scripted

LOOK = plan(("skills.use", {"skill": "letters"}))
LIST = plan(("manage-files.list", {"path": "."}))


class Slow(Scripted):
    """While it plans, a skill changes."""

    def __init__(self, live: Catalogue, **replies: Any) -> None:
        super().__init__(**replies)
        self._catalogue = live

    @override
    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        self._catalogue.skills = _changed(self._catalogue.skills, "manage-files")
        return await super().plan(task, catalogue)


def catalogue(folder: Path) -> Catalogue:
    """The bundled skills, and the user's own in `folder/user`."""
    places = (Place(folder / "user", Source.USER), Place(REPOSITORY / "skills", Source.BUNDLED))
    return Catalogue(places, every=0.01)


def own(root: Path, name: str = "letters", **more: Any) -> Path:
    """A skill of the folder's own."""
    return skill(root / ".suma" / "skills", name, **{"text": "From the folder.", **more})


async def looked(at: RunningPlatform, root: Path | None) -> ToolSucceeded | ToolFailed | ToolDenied:
    """What a look into `letters` showed."""
    turn = await at.say("look", session="s", root=root)
    await at.finish(turn, session="s")
    return next(e for e in reversed(await at.logged("s")) if isinstance(e, ToolSucceeded | ToolFailed | ToolDenied))


async def asked(at: RunningPlatform, what: str, **params: str) -> Any:
    return await call(at.platform, EXECUTOR, "GET", f"/internal/v1/{what}", tenant=TENANT, params=params)


async def told(at: RunningPlatform, word: str, root: Path, *, scopes: tuple[str, ...] = ("*",), **more: str) -> Any:
    """A person's word on the folder's `letters`."""
    body = {"root": str(root), "name": "letters", "principal": WHO, "scopes": scopes, **more}
    return await call(at.platform, EXECUTOR, "PUT", f"/internal/v1/skills/letters/{word}", tenant=TENANT, json=body)


async def approved(at: RunningPlatform, root: Path) -> None:
    digest = (await asked(at, "skills/letters", root=str(root)))["digest"]
    assert (await told(at, "approval", root, digest=digest))["state"] == "on"


@pytest.mark.requirement("S2-23")
async def test_look_into_a_skill_returns_its_instructions_and_source(home: Dsns, tmp_path: Path) -> None:
    skill(tmp_path / "user", "letters", text="Write warmly.")
    async with run_platform(home, tmp_path, model=scripted_model(LOOK), catalogue=catalogue(tmp_path)) as at:
        shown = await looked(at, None)
        assert isinstance(shown, ToolSucceeded)
        page = shown.data.json_
        assert (page["text"], page["source"]) == ("Write warmly.", "user")
        assert page["digest"] == at.platform.skills.skills["letters"].digest


@pytest.mark.requirement("S2-23")
async def test_program_of_a_skill_without_a_sandbox_is_refused(home: Dsns, tmp_path: Path) -> None:
    skill(tmp_path / "user", "letters", skill_dot_py="print(1)")
    run = plan(("skills.run", {"skill": "letters", "program": "skill.py"}))
    async with run_platform(home, tmp_path, model=scripted_model(run), catalogue=catalogue(tmp_path)) as at:
        shown = await looked(at, at.folder("a.txt"))
        assert isinstance(shown, ToolFailed)
        assert shown.code == "NO_SANDBOX"


@pytest.mark.requirement("S2-24")
async def test_a_folders_own_skill_is_off_until_it_is_approved(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(LOOK, LOOK)) as at:
        own(root := at.folder())
        refused = await looked(at, root)
        assert isinstance(refused, ToolFailed)
        assert "no person has reviewed it" in refused.error
        await approved(at, root)
        shown = await looked(at, root)
        assert isinstance(shown, ToolSucceeded)
        assert (shown.data.json_["text"], shown.data.json_["source"]) == ("From the folder.", "workspace")


@pytest.mark.requirement("S2-24")
async def test_skill_of_a_folder_hides_the_users_once_approved(home: Dsns, tmp_path: Path) -> None:
    skill(tmp_path / "user", "letters", text="From me.")
    async with run_platform(home, tmp_path, model=scripted_model(LOOK, LOOK), catalogue=catalogue(tmp_path)) as at:
        own(root := at.folder())
        before = await looked(at, root)
        await approved(at, root)
        after = await looked(at, root)
        assert isinstance(before, ToolSucceeded)
        assert isinstance(after, ToolSucceeded)
        assert [e.data.json_["text"] for e in (before, after)] == ["From me.", "From the folder."]


@pytest.mark.requirement("S2-24")
@pytest.mark.parametrize("file", ["SKILL.md", "references/more.md"])
async def test_any_changed_byte_turns_it_off_again(home: Dsns, tmp_path: Path, file: str) -> None:
    async with run_platform(home, tmp_path) as at:
        folder = own(root := at.folder(), references__more_dot_md="More.")
        await approved(at, root)
        with (folder / file).open("a") as page:
            page.write(" ")
        row = await asked(at, "skills/letters", root=str(root))
        assert (row["state"], row["reason"]) == ("off", "changed since it was approved")


async def test_facts_for_planners_name_a_folders_approved_skills(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path) as at:
        own(root := at.folder(), about="Writes letters.")
        assert "skills" not in await asked(at, "sessions/s/facts", root=str(root))
        await approved(at, root)
        facts = await asked(at, "sessions/s/facts", root=str(root))
        assert facts["skills"] == [{"name": "letters", "description": "Writes letters."}]


async def test_approval_with_another_digest_is_refused(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path) as at:
        own(root := at.folder())
        with pytest.raises(Rejected, match="review it again"):
            await told(at, "approval", root, digest="0" * 64)


async def test_approval_counts_in_its_folder_until_revoked(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path) as at:
        own(root := at.folder())
        own(other := at.folder(at="other"))
        await approved(at, root)
        assert (await asked(at, "skills/letters", root=str(other)))["state"] == "off"
        await told(at, "revocation", root)
        assert (await asked(at, "skills/letters", root=str(root)))["state"] == "off"


async def test_approval_of_one_tenant_does_not_apply_to_another(home: Dsns, tmp_path: Path) -> None:
    shared = {"tool_executor": {"roots": [tmp_path / "root", f"foreign={tmp_path / 'root'}"]}}
    async with run_platform(home, tmp_path, settings=shared) as at:
        own(root := at.folder())
        await approved(at, root)
        path, params = "/internal/v1/skills/letters", {"root": str(root)}
        assert (await call(at.platform, EXECUTOR, "GET", path, tenant="foreign", params=params))["state"] == "off"


async def test_approval_without_admin_scope_is_denied_and_recorded(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path) as at:
        own(root := at.folder())
        digest = (await asked(at, "skills/letters", root=str(root)))["digest"]
        with pytest.raises(Denied):
            await told(at, "approval", root, scopes=("chat", "files:write"), digest=digest)
        assert (await asked(at, "skills/letters", root=str(root)))["state"] == "off"
        assert [(r.action, r.verdict) for r in await at.audited(WHO)] == [("admin.skills", "deny")]


@pytest.mark.parametrize(
    ("name", "files", "why"),
    [
        ("letters", {"tools_dot_yaml": TOOL}, "may only be instructions"),
        ("manage-files", {}, "a skill with tools has this name"),
    ],
)
async def test_forbidden_folder_skill_stays_off_with_the_reason(
    home: Dsns, tmp_path: Path, name: str, files: dict[str, str], why: str
) -> None:
    async with run_platform(home, tmp_path) as at:
        own(root := at.folder(), name, **files)
        row = await asked(at, f"skills/{name}", root=str(root))
        assert (row["source"], row["state"], why in row["reason"]) == ("workspace", "off", True)
        body = {"root": str(root), "name": name, "principal": WHO, "scopes": ["*"], "digest": row["digest"]}
        path = f"/internal/v1/skills/{name}/approval"
        with pytest.raises(Rejected, match=why):
            await call(at.platform, EXECUTOR, "PUT", path, tenant=TENANT, json=body)


async def test_linked_folder_of_skills_is_not_followed(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path) as at:
        own(outside := tmp_path / "outside")
        (root := at.folder()).joinpath(".suma").symlink_to(outside / ".suma")
        with pytest.raises(NotFound):
            await asked(at, "skills/letters", root=str(root))


async def test_skill_whose_tool_calls_an_unknown_primitive_is_refused(home: Dsns, tmp_path: Path) -> None:
    skill(tmp_path / "user", tools_dot_yaml=TOOL.replace("get_children", "make_coffee"))
    brew = plan(("demo.look", {"path": "."}))
    async with run_platform(home, tmp_path, model=scripted_model(brew), catalogue=catalogue(tmp_path)) as at:
        assert "make_coffee" in (await asked(at, "skills/demo"))["problems"][0]
        shown = await looked(at, at.folder())
        assert isinstance(shown, ToolDenied)
        assert (shown.link, "make_coffee" in shown.reason) == ("schema", True)


@pytest.mark.requirement("S4-17")
async def test_approved_step_does_not_run_with_a_changed_tool(home: Dsns, tmp_path: Path) -> None:
    make = plan(("manage-files.create", {"path": ".", "name": "n", "type": "directory"}))
    live = catalogue(tmp_path)
    async with run_platform(home, tmp_path, model=scripted_model(make), catalogue=live) as at:
        turn = await at.say("make", session="s", root=at.folder())
        question = await at.asked(session="s")
        live.skills = _changed(live.skills, "manage-files")
        await at.decide(question, session="s")
        await at.finish(turn, session="s")
        assert not [e for e in await at.logged("s") if isinstance(e, ToolRequested)]


async def test_plan_with_a_tool_changed_meanwhile_is_made_again(home: Dsns, tmp_path: Path) -> None:
    live = catalogue(tmp_path)
    answers, approvals = [("done",)] * 3, ['{"approved": true}'] * 3
    model = Slow(live, plans=[PlanDraft(LIST)], resolutions=[LIST], reviews=approvals, answers=answers)
    async with run_platform(home, tmp_path, model=model, catalogue=live) as at:
        turn = await at.say("list", session="s", root=at.folder("a.txt"))
        await at.finish(turn, session="s")
        assert model.asked == ["plan", "resolve", "answer"]
        (sent,) = [e for e in await at.logged("s") if isinstance(e, ToolRequested)]
        assert sent.tool_digest == live.skills.tool("manage-files.list").digest


async def test_executor_waits_until_it_has_the_skill_too(home: Dsns, tmp_path: Path) -> None:
    live = catalogue(tmp_path)
    later = _changed(live.skills, "manage-files")
    async with run_platform(home, tmp_path, model=scripted_model(LIST), catalogue=live) as at:
        await _granted(at, tool_digest=later.tool("manage-files.list").digest)
        while "suma.tool.requested.v1" not in await at.open():
            await at.platform.bus.waiting()
        live.skills = later
        await at.later(1)
        assert (await at.until(ToolSucceeded, session="s")).call_id == "again"


async def test_an_executor_that_has_another_skill_for_long_refuses(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(LIST)) as at:
        await _granted(at, tool_digest="0" * 64)
        while "suma.tool.requested.v1" not in await at.open():
            await at.platform.bus.waiting()
        await at.later(10)
        denied = await at.until(ToolDenied, session="s")
        assert (denied.call_id, denied.link, "has changed" in denied.reason) == ("again", "schema", True)


async def _granted(at: RunningPlatform, **update: Any) -> None:
    """A listing is done; then one that was granted with another definition comes to the executor."""
    turn = await at.say("list", session="s", root=at.folder("a.txt"), hitl=Hitl.BYPASS)
    await at.finish(turn, session="s")
    await at.until(ToolSucceeded, session="s")
    real = next(e for e in await at.logged("s") if isinstance(e, ToolRequested))
    request = real.model_copy(update={"call_id": "again", **update})
    claims = grants.GrantClaims(
        request=grants.digest_of(request),
        tenant=TENANT,
        session="s",
        plan="",
        verdict="exempt",
        revision="",
        expires=at.platform.clock.now() + timedelta(hours=1),
    )
    sealed = request.model_copy(update={"grant": grants.issue(at.platform.keys, claims)})
    await at.publish(sealed, session="s", turn=ids.new())


def _changed(skills: Skills, name: str) -> Skills:
    """The view after a change of a skill's folder."""
    old = skills.skills[name]
    tools = tuple(replace(tool, digest="f" * 64) for tool in old.tools)
    return replace(skills, skills={**skills.skills, name: replace(old, digest="f" * 64, tools=tools)})


@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize(
    ("words", "skill"),
    [
        ("rename all photos with numbers", "batch-rename"),
        ("zip things up", "archive-files"),
        ("find copies of the same file", "remove-duplicates"),
        ("summarize a long text", "summarize"),
        ("put pictures into folders by date", "organize-by-type"),
    ],
)
async def test_a_search_finds_the_skill_that_is_good_for_it(home: Dsns, tmp_path: Path, words: str, skill: str) -> None:
    async with run_platform(home, tmp_path) as at:
        found = (await asked(at, "skills", query=words))["skills"]
        assert found[0]["name"] == skill
        scores = [one["score"] for one in found]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.requirement("S4-59", "S2-24")
async def test_search_shows_a_folders_own_skills_as_off(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path) as at:
        own(root := at.folder(), about="Writes birthday letters to aunts.")
        found = (await asked(at, "skills", query="birthday letters to an aunt", root=str(root)))["skills"]
        assert (found[0]["name"], found[0]["state"], found[0]["source"]) == ("letters", "off", "workspace")


@pytest.mark.requirement("S4-59")
async def test_unrelated_skill_search_finds_none(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path) as at:
        assert (await asked(at, "skills", query="xylophone quark"))["skills"] == []
