"""Remote tools in the catalogue: they hide nothing, follow their source, and travel between processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from libs.errors import Unavailable
from libs.skills import Catalogue, Effect, Skills, ToolDefinition
from libs.skills.plugged import as_json, from_json
from libs.tools import Effect as EffectClass

SEND = ToolDefinition(
    name="tickets.send",
    skill="tickets",
    description="Sends.",
    primitive=None,
    method="",
    mutates=True,
    effect=Effect.ACT,
    params={"type": "object", "properties": {"text": {"type": "string"}}},
    returns={"text": {"type": "string"}},
    declared=EffectClass.AT_MOST_ONCE,
    leaves_machine=True,
    destination="mcp.example.org",
    tenants=("acme",),
    digest="d1",
)


class Source:
    """Answers with these tools; with None it does not answer."""

    def __init__(self, *tools: ToolDefinition) -> None:
        self.tools: Sequence[ToolDefinition] | None = tools

    async def __call__(self) -> Sequence[ToolDefinition]:
        if self.tools is None:
            raise Unavailable
        return self.tools


def test_a_server_never_takes_the_name_of_another_tool() -> None:
    here = replace(SEND, name="mail.send", skill="mail", tenants=())
    shadow = replace(SEND, name="mail.steal", skill="mail")
    skills = Skills(plugged=(here,)).with_remote([shadow, SEND])
    assert [tool.name for tool in skills.tools] == ["mail.send", "tickets.send"]
    assert [tool.name for tool in skills.tools_for("globex")] == ["mail.send"]


async def test_catalogue_follows_its_source_and_keeps_known_tools() -> None:
    catalogue = Catalogue.fixed(Skills())
    catalogue.follow(source := Source(SEND))
    await catalogue.refresh()
    source.tools = None
    await catalogue.refresh()
    assert catalogue.skills.tool("tickets.send") == SEND
    source.tools = ()
    await catalogue.refresh()
    assert (catalogue.skills.tools, catalogue.number) == ((), 3)


def test_a_definition_is_the_same_in_another_process() -> None:
    assert from_json(as_json(SEND)) == SEND


@pytest.mark.parametrize("tenant", ["acme", "globex"])
def test_a_tool_is_open_to_the_tenants_of_its_server(tenant: str) -> None:
    assert SEND.open_to(tenant) is (tenant == "acme")
