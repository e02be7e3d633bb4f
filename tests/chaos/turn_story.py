"""What the turns of `turn_scenario` are given, and what must be true when they are over."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from random import Random
from zipfile import ZipFile, ZipInfo

import asyncpg

from libs import ids
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.events import MessageReceived
from libs.events.values import Hitl
from tests import infrastructure
from tests.chaos.driver import DENSE
from tests.support.platform import TENANT, WHO, keys_of

MESSY = {"b.txt": b"same", "a.txt": b"same", "c.jpg": b"picture", "d.pdf": b"paper", "e.mp3": b"", "plain": b"?"}
TIDIED = {
    "Documents/a.txt": b"same",
    "Images/c.jpg": b"picture",
    "Documents/d.pdf": b"paper",
    "Audio/e.mp3": b"",
    "Other/plain": b"?",
}
MANY_FILES = 1000
LARGE = Random(1).randbytes(100_000)
"""More than travels with an operation, so that it is staged beside the log."""
ENDS = """
select data ->> 'state' as state, data ->> 'reason' as reason from bus.log
where type = 'suma.turn.ended.v1' and data ->> 'turn_id' = $1
"""
END_OF = {
    "tidy": ("completed", None),
    "many": ("completed", None),
    "unpack": ("completed", None),
    "ignored": ("failed", "APPROVAL_EXPIRED"),
    "unclear": ("failed", "CLARIFICATION_EXPIRED"),
    "garbled": ("failed", "MALFORMED_EVENT"),
    "hold": ("completed", None),
    "wait": ("completed", None),
}


def folder(world: Path, turn: str) -> Path:
    return world / "root" / turn


def mess(world: Path, turn: str) -> None:
    """The turn's own folder, with what it is to work on."""
    where = folder(world, turn)
    where.mkdir(parents=True)
    for name, content in before(turn).items():
        (where / name).write_bytes(content)


def before(turn: str) -> dict[str, bytes]:
    match turn.split("-")[0]:
        case "many":
            return {f"{n:04}.txt": b"%d" % n for n in range(MANY_FILES)}
        case "unpack":
            return {"all.zip": _archive()}
        case _:
            return MESSY


def _archive() -> bytes:
    packed = BytesIO()
    with ZipFile(packed, "w") as file:
        file.writestr(ZipInfo("large.bin"), LARGE)
    return packed.getvalue()


def after(turn: str) -> dict[str, bytes]:
    match turn.split("-")[0]:
        case "tidy":
            return TIDIED
        case "many":
            return {f"Documents/{name}": content for name, content in before(turn).items()}
        case "unpack":
            return {**before(turn), "all/large.bin": LARGE}
        case _:
            return MESSY


def tree(world: Path, turn: str) -> dict[str, bytes]:
    """Every file of the turn's folder, without what the workspace keeps of its own."""
    where = folder(world, turn)
    found = {str(path.relative_to(where)): path.read_bytes() for path in where.rglob("*") if path.is_file()}
    return {name: content for name, content in found.items() if not name.startswith(".suma/")}


def touched(world: Path, turn: str) -> dict[str, tuple[int, int, int]]:
    """What any further operation on a file or folder would change: inode and times."""
    where = folder(world, turn)
    seen = {str(path): path.lstat() for path in where.rglob("*") if ".suma" not in path.parts}
    return {name: (stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns) for name, stat in seen.items()}


async def accept(where: Dsns, world: Path, kinds: Sequence[str], *, text: str | None = None) -> list[str]:
    """Messages that were answered with 202, by a process that is gone; their text is their kind, unless it is given."""
    turns = [f"{kind}-{ids.new()}" for kind in kinds]
    async with infrastructure.platform(where, keys=keys_of(world)) as platform:
        writing = asyncio.ensure_future(platform.writer.run())
        await asyncio.sleep(0)
        for turn in turns:
            mess(world, turn)
            key = f"{TENANT}:{turn}"
            cause = Cause.request("gateway", id=ids.new(), tenant=TENANT, key=key, session=turn, turn=turn)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                await platform.writer.apply(Changeset(cause).emit(_message(world, turn, text)))
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    return turns


def _message(world: Path, turn: str, text: str | None) -> MessageReceived:
    said = MessageReceived(
        message_id=turn,
        turn_id=turn,
        text=text or turn.split("-")[0],
        principal=WHO,
        scopes=("*",),
        hitl=Hitl.BYPASS,
        root=str(folder(world, turn)),
    )
    return said.model_copy(update={"principal": 7}) if turn.startswith("garbled-") else said


async def every_turn_ended_well(where: Dsns, world: Path, turns: Sequence[str]) -> None:
    """Each ended once, as it had to, with one effect; and nothing is left lying about."""
    eye = await asyncpg.connect(where.owner.replace("suma_owner", "postgres"))
    try:
        for turn in turns:
            ends = await eye.fetch(ENDS, turn)
            assert [(end["state"], end["reason"]) for end in ends] == [END_OF[turn.split("-")[0]]]
            assert tree(world, turn) == after(turn)
            one_commit(world, turn)
        assert await eye.fetchval(DENSE)
        assert await eye.fetchval("select count(*) from bus.leases where kind not in ('history', 'assets')") == 0
        assert list(world.glob("**/objects/*/stages/*")) == [], "staged contents outlived their stage"
    finally:
        await eye.close()


def one_commit(world: Path, turn: str) -> None:
    """The history holds the one commit, where there is one, and no transaction is open."""
    kept = folder(world, turn) / ".suma"
    assert list(kept.glob("txn/*")) == []
    assert len(list(kept.glob("history/*"))) == (after(turn) != before(turn))
