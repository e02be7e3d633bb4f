"""D2 and PlantUML, with the real programs inside bubblewrap."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from deploy.local import diagrams
from deploy.local.cache import Unprovided
from libs.multimodal.ports import Brief, CannotProduce, Made, Producer, StepType
from libs.multimodal.producers import local
from libs.multimodal.producers.programs import DRAWING, Text
from libs.multimodal.renderer import svg
from tests.libs.multimodal.test_producers import Cancelled

pytestmark = pytest.mark.slow

SYSTEM = """\
direction: right
gateway: Gateway
store: "Größter Speicher" { shape: cylinder }
gateway -> store: writes
notes: |md
  # Heading
  some *text*
|
"""
TALK = '@startuml\nparticipant "Gateway" as G\ndatabase "Größter Speicher" as S\nG -> S : writes\n@enduml\n'
CLASSES = (
    '@startuml\nclass Gateway {\n  +open: int\n}\nclass "Größter Speicher" as S\nGateway --> S : writes\n@enduml\n'
)
CHAIN = {
    "d2": "".join(f"n{n} -> n{n * 7 % 300}\n" for n in range(300)),
    "plantuml": "@startuml\n" + "".join(f"A{n} --> A{n * 7 % 300}\n" for n in range(300)) + "@enduml\n",
}
LAUGHS = (
    "vars: {\n  a0: "
    + "ha" * 30
    + "\n"
    + "".join(f"  a{n}: {f'${{a{n - 1}}}' * 40}\n" for n in range(1, 8))
    + "}\nx: ${a7}\n"
)
"""A label of ten terabytes, by variables of variables."""
ENDLESS = "@startuml\n!function $f($n)\n!return $f($n + 1) + $f($n + 2)\n!endfunction\nA -> B: $f(1)\n@enduml\n"


@pytest.fixture
def producer(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Producer]:
    try:
        d2, plantuml = diagrams.d2(), diagrams.plantuml()
    except Unprovided as reason:
        pytest.skip(str(reason))
    monkeypatch.setenv("PATH", f"{d2.parent}:{os.environ['PATH']}")
    producers = {one.capability.tool_id: one for one in local(plantuml)}
    return producers.__getitem__


async def make(one: Producer, source: str, form: str = "svg", *, check: Callable[[], None] = lambda: None) -> Made:
    if problem := await one.problem():
        pytest.skip(problem)
    return await one.produce(Brief(StepType.DIAGRAM, form, source=source), check=check)


@pytest.mark.requirement("S3-26")
@pytest.mark.parametrize(("tool", "source"), [("d2", SYSTEM), ("plantuml", TALK), ("plantuml", CLASSES)])
async def test_diagram_shows_its_labels(producer: Callable[[str], Producer], tool: str, source: str) -> None:
    made = await make(producer(tool), source)

    drawn = svg.clean(made.data)
    assert {"Gateway", "Größter Speicher", "writes"} <= set(drawn.texts)
    assert ("Heading some text" in drawn.texts) is (tool == "d2")
    assert drawn.smallest >= 12
    assert "bubblewrap" in made.parameters["walls"]


@pytest.mark.parametrize(
    ("tool", "source"), [("d2", 'a: ""\nb: Gateway'), ("plantuml", "@startuml\nactor Bob\n@enduml")]
)
async def test_letters_of_a_png_are_drawn(producer: Callable[[str], Producer], tool: str, source: str) -> None:
    with_letters = await make(producer(tool), source, "png")
    without = await make(producer(tool), re.sub("Gateway|Bob", '" "', source), "png")

    assert max(with_letters.width, with_letters.height) <= 1920
    assert dark(with_letters) > dark(without) + 200


def dark(made: Made) -> int:
    return sum(Image.open(BytesIO(made.data)).convert("L").histogram()[:100])


@pytest.mark.parametrize(
    ("tool", "source", "line", "words"),
    [
        ("d2", "a -> b\nc: {\n", 2, r"must be terminated with }"),
        ("plantuml", "@startuml\nA -> B: hi\nfoo bar ((\n@enduml\n", 3, "Syntax Error"),
        ("plantuml", f"{TALK}{TALK}", None, "one diagram in the source"),
        ("plantuml", ENDLESS, None, "PlantUML"),
    ],
)
async def test_bad_source_gives_its_line(
    producer: Callable[[str], Producer], tool: str, source: str, line: int | None, words: str
) -> None:
    with pytest.raises(CannotProduce, match=words) as refused:
        await make(producer(tool), source)
    assert refused.value.line == line


@pytest.mark.parametrize(
    ("tool", "source", "words"),
    [
        ("d2", "x: @{file}", "no such file"),
        ("d2", "...@../../{file}", "no such file"),
        ("d2", "x: {{icon: {file}}}", "no such file"),
        ("d2", "x: ${{HOME}}", "could not resolve"),
        ("plantuml", "@startuml\n!include {file}\nA -> B\n@enduml", "cannot include"),
        ("plantuml", "@startuml\n!includeurl http://127.0.0.1:1/a.puml\nA -> B\n@enduml", "Cannot open URL"),
    ],
)
async def test_source_that_reads_a_file_is_refused(
    producer: Callable[[str], Producer], tmp_path: Path, tool: str, source: str, words: str
) -> None:
    secret = tmp_path / "secret.d2"
    secret.write_text("a: treasure")

    with pytest.raises(CannotProduce, match=words):
        await make(producer(tool), source.format(file=secret))


@pytest.mark.parametrize(
    ("tool", "source"),
    [
        ("d2", "x: {{icon: http://127.0.0.1:1/a.png}}"),
        ("plantuml", '@startuml\nA -> B: %load_json("{file}") %getenv("SECRET") %getenv("PATH")\n@enduml'),
        ("plantuml", '@startuml\nclass "<img:{file}>" as A\n@enduml'),
        ("plantuml", "@startuml\nA -> B: [[http://127.0.0.1:1/ treasure]]\n@enduml"),
    ],
)
async def test_source_reaches_neither_files_nor_network(
    producer: Callable[[str], Producer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, source: str
) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('"riches"')
    monkeypatch.setenv("SECRET", "riches")

    drawn = (await make(producer(tool), source.format(file=secret))).data.decode()

    assert not re.search(r"riches|/usr/bin|href=\"[^#]", drawn)


@pytest.mark.parametrize(("tool", "line"), [("d2", "n{0} -> n{1}\n"), ("plantuml", "A{0} --> A{1}\n")])
async def test_hundred_thousand_nodes_are_refused(producer: Callable[[str], Producer], tool: str, line: str) -> None:
    source = "".join(line.format(n, n * 7 % 100_000) for n in range(100_000))

    with pytest.raises(CannotProduce, match="draw fewer nodes"):
        await make(producer(tool), source)


async def test_memory_beyond_its_bound_ends_the_program_alone(producer: Callable[[str], Producer]) -> None:
    others = inside("d2")
    with pytest.raises(CannotProduce, match="D2 failed: it takes too much memory"):
        await make(producer("d2"), LAUGHS)
    assert inside("d2") <= others
    assert (await make(producer("d2"), "a -> b")).data


@pytest.mark.parametrize(
    ("limits", "words"), [({"wait": 0.1}, r"0\.1 s to"), ({"seconds": 1}, "1 s of processor time")]
)
async def test_slow_program_names_the_limit_that_it_exceeds(
    producer: Callable[[str], Producer], limits: dict[str, Any], words: str
) -> None:
    d2 = producer("d2")
    assert isinstance(d2, Text)
    assert not await d2.problem()
    with pytest.raises(CannotProduce, match=f"it takes more than {words}"):
        await make(replace(d2, limits=replace(DRAWING, **limits)), CHAIN["d2"])


@pytest.mark.requirement("S3-72")
@pytest.mark.parametrize("tool", ["d2", "plantuml"])
async def test_cancel_ends_the_program(producer: Callable[[str], Producer], tool: str) -> None:
    assert not await producer(tool).problem()
    seen = set[str]()

    def check() -> None:
        seen.update(inside(tool) - before)
        if seen:
            raise Cancelled

    before = inside(tool)
    with pytest.raises(Cancelled):
        await make(producer(tool), CHAIN[tool], check=check)

    assert seen
    assert not seen & inside(tool)


def inside(tool: str) -> set[str]:
    """Return the processes that run the program, in whatever box."""
    found = set[str]()
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == b"/tmp/d2" if tool == "d2" else words[0] == b"java" and b"/tmp/plantuml.jar" in words:
            found.add(each.parent.name)
    return found
