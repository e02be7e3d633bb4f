"""The composer: sections and assets as one document, PDF, HTML or Markdown (S3-16)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from libs.multimodal.children import CannotRun, ask
from libs.multimodal.ports import Brief, CannotProduce, Capability, Input, Json, Made, Modality, StepType
from libs.multimodal.producers.isolated import render

CHILD = Path(__file__).parent / "composing_child.py"
SECONDS = 30.0
BYTES_MOST = 48 << 20
"""Bytes of all pictures of one document."""
UNDRAWN = "could not be displayed"
"""Part of Typst's error about a letter without a font."""
HANDLE = re.compile(r"[A-Za-z0-9._-]{1,200}")


class Composer:
    """A producer of documents. Its brief has `sections`, each with `heading`, `text` (Markdown) and `assets` (ids), and
    `date` (ISO 8601) and `request`.

    In a text, `![](asset:ID)` places a figure and `[](asset:ID)` refers to it by its number.
    """

    capability = Capability(
        tool_id="compose_srs",
        provider="local",
        step_types=frozenset((StepType.COMPOSE,)),
        modalities=frozenset((Modality.DOCUMENT,)),
        formats=("pdf", "html", "markdown"),
    )

    async def produce(self, brief: Brief, *, check: Callable[[], None]) -> Made:
        """Compose the document.

        Raises:
            CannotProduce: a section names an unknown asset, or the document is too large.
        """
        if (size := sum(len(each.data) for each in brief.inputs)) > BYTES_MOST:
            raise CannotProduce(
                f"the pictures have {size >> 20} MiB; a document has room for {BYTES_MOST >> 20}: leave some out"
            )
        pictures = {each.asset_id: each for each in brief.inputs}
        if wrong := next((id for id in pictures if not HANDLE.fullmatch(id)), None):
            raise CannotProduce(f"{wrong!r} is no id of an asset; use letters, digits, `.`, `_` and `-`")
        asked: dict[str, Json] = {
            "format": brief.format,
            "title": brief.title,
            "date": str(brief.content.get("date", "")),
            "request": str(brief.content.get("request", "")),
            "sections": [_section(each) for each in brief.content.get("sections") or _each_its_own(brief.inputs)],
            "assets": [_asset(each) for each in pictures.values()],
        }
        try:
            facts, data = await ask(
                CHILD, asked, [each.data for each in pictures.values()], seconds=SECONDS, check=check
            )
        except CannotRun as error:
            raise CannotProduce(f"the document {error}; shorten its texts, or use smaller pictures") from error
        if "refused" in facts:
            raise CannotProduce(str(facts["refused"]))
        if UNDRAWN in str(facts.get("short_of_ua", "")):
            text = "\n".join([brief.title, *(f"{each['heading']}\n{each['text']}" for each in asked["sections"])])
            found, _ = await render("letters", {"text": text}, check=check)
            facts["measured"] = {name: found[name] for name in ("undrawn", "undrawn_share") if name in found}
        return Made(data, brief.format, model="suma composer 1", parameters=facts)

    async def problem(self) -> str:
        """Return nothing: all that it needs is installed with Suma."""
        return ""


def _each_its_own(inputs: Sequence[Input]) -> list[dict[str, Json]]:
    return [{"heading": each.title or "Picture", "assets": [each.asset_id]} for each in inputs]


def _section(given: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "heading": str(given.get("heading", "")),
        "text": str(given.get("text", "")),
        "assets": [str(asset) for asset in given.get("assets") or ()],
    }


def _asset(given: Input) -> dict[str, Json]:
    return {
        "id": given.asset_id,
        "size": len(given.data),
        "media_type": given.media_type,
        "title": title(given),
        "caption": title(given),
        "alt": description(given),
        "made_from": given.provenance.get("made_from", ""),
        "facts": {"asset": given.asset_id, **given.provenance},
    }


def title(given: Input) -> str:
    """Return the caption of a picture."""
    return given.title or "Picture"


def description(given: Input) -> str:
    """Return the text for people who cannot see a picture."""
    return given.text or title(given)
