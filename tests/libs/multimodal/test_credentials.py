"""Content credentials: files say how they were made, and a change of them shows."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from libs.keys import Signature
from libs.keys.certificates import chain_of
from libs.keys.file import FileKeys
from libs.multimodal.composing import Composer
from libs.multimodal.credentials import Credentials
from libs.multimodal.ports import Brief, CannotProduce, StepType

AT = datetime(2026, 11, 29, tzinfo=UTC)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect width="80" height="40" fill="red"/></svg>'


@pytest.fixture
def credentials(tmp_path: Path) -> Credentials:
    return Credentials(FileKeys(tmp_path / "keys"))


def drawn(form: str) -> bytes:
    out = BytesIO()
    Image.new("RGB", (90, 60), "#336699").save(out, form)
    return out.getvalue()


async def document() -> bytes:
    return (await Composer().produce(Brief(StepType.COMPOSE, "pdf", title="T"), check=lambda: None)).data


async def signed(credentials: Credentials, data: bytes, media_type: str) -> bytes:
    facts = {"tool": "generate_diagram", "made_from": "nov.xlsx"}
    return await credentials.sign(
        data, media_type, step=StepType.DIAGRAM, title="Flow", facts=facts, at=AT, check=lambda: None
    )


@pytest.mark.requirement("S3-39")
@pytest.mark.parametrize("media_type", ["image/png", "image/jpeg", "image/webp", "image/svg+xml", "application/pdf"])
async def test_a_file_says_how_it_was_made(credentials: Credentials, media_type: str) -> None:
    kind = media_type.partition("/")[2]
    data = SVG if kind == "svg+xml" else await document() if kind == "pdf" else drawn(kind.upper())
    made = await signed(credentials, data, media_type)
    report = await credentials.read(made, media_type)
    assert (report.state, report.facts["made_from"]) == ("trusted", "nov.xlsx")
    at = made.index(b"red") if kind == "svg+xml" else len(data) // 2 if kind == "pdf" else len(made) - 20
    changed = made[:at] + bytes([made[at] ^ 1]) + made[at + 1 :]
    assert (await credentials.read(changed, media_type)).state == "invalid"


async def test_a_file_without_credentials_has_none(credentials: Credentials) -> None:
    assert (await credentials.read(drawn("PNG"), "image/png")).state == "absent"
    assert (await credentials.read(b"# Text", "text/markdown")).state == "absent"


async def test_credentials_of_another_deployment_are_not_trusted(credentials: Credentials, tmp_path: Path) -> None:
    made = await signed(Credentials(FileKeys(tmp_path / "other")), drawn("PNG"), "image/png")
    assert (await credentials.read(made, "image/png")).state == "valid"


async def test_a_file_of_another_type_is_refused(credentials: Credentials) -> None:
    with pytest.raises(CannotProduce, match="cannot hold content credentials"):
        await signed(credentials, b"no picture", "image/png")


async def test_every_process_has_the_same_root(tmp_path: Path) -> None:
    one, other = Credentials(FileKeys(tmp_path / "keys")), Credentials(FileKeys(tmp_path / "keys"))
    assert one.root == other.root
    made = await signed(one, drawn("PNG"), "image/png")
    assert (await other.read(made, "image/png")).state == "trusted"


def test_the_root_outlives_the_leaves_of_each_year() -> None:
    assert chain_of(bytes(32), 2026).root == chain_of(bytes(32), 2060).root
    assert chain_of(bytes(32), 2026).chain != chain_of(bytes(32), 2060).chain


def test_an_anchor_holds_for_its_record_alone(credentials: Credentials) -> None:
    record = {"sha256": "ab" * 32, "asset": "a1"}
    anchor = credentials.anchor(record)
    assert credentials.anchored(record, anchor)
    assert not credentials.anchored({**record, "asset": "a2"}, anchor)
    assert not credentials.anchored(record, Signature(anchor.key_id, bytes(64)))
