"""Requests to draw, chart and compose: from English words to a document of the Task DSL, compiled into a plan.

Every part of a request is recognised, or it is asked about; nothing is dropped. Where no tool of `make-documents` is
offered, no request is one of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from libs.events.committee import Task
from libs.models.offline import texts
from libs.models.ports import Answered, AnswerKind, ClarificationNeeded, PlanDraft, PlannerOutcome
from libs.multimodal import compiler, dsl
from libs.multimodal.ports import StepType
from libs.skills import ToolDefinition
from libs.skills.categories import free_name

LETTERS_MOST, ITEMS_MOST = 1_000, 12
"""Bounds of a request: all patterns here are tried on it."""
_PLEASE = re.compile(
    r"(?:please|kindly|(?:can|could|would|will) you(?: please)?|i (?:want|need|would like|'d like)(?: you to| to)?"
    r"|give me|show me|let us|let's|hello|hi),? ",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"(?:draw|make|create|generate|produce|prepare|build|write|compose|render|take) (?:me |up )?",
    re.IGNORECASE,
)
_FORMAT = re.compile(
    r",? (?:(?:all |everything )?(?:as|in|into|to)(?: one| an?)?) \(?(?P<format>pdf|html|markdown|web page|svg|png)\)?"
    r"(?: (?:file|document|picture|image))?$",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r",? (?:(?:and )?save (?:it |this )?as|called|named|saved as|as(?= ?[\"“]?[^ ]+\.(?:pdf|html|md|svg|png)))"
    r" [\"“]?(?P<name>[^\"”]+?)[\"”]?$",
    re.IGNORECASE,
)
_BY_FORMAT = re.compile(r"(?P<article>an? )?(?P<format>pdf|html|markdown|svg|png) (?:with|of|showing) ", re.IGNORECASE)
_WORDS = {"web page": "html"}
_HERE = (
    r"(?:this |my |our |current |whole )*(?:folder|directory|project|repository|repo|code|codebase|program|workspace"
    r"|files|system|software|application|app)|it|here|this|everything"
)
_PLACE = (
    rf"(?: (?:of|for|about|in|from|on) (?:the )?(?P<place>{_HERE}|[\"“][^\"”]{{1,200}}[\"”]"
    r"|(?:folder )?[^\s,:\"]{1,200}(?: folder)?))?"
)
_A = r"(?:the |an? |one |some )?"
_DOCUMENT = re.compile(
    rf"{_A}(?P<name>(?:[\w-]+ ){{0,3}}?(?:overview|report|srs|specifications?|document|documentation)){_PLACE}"
    r"(?:(?:\s*:\s*|,? (?:with|including|containing|that has|that contains|consisting of) )(?P<rest>.+))?",
    re.IGNORECASE,
)
_PARTS = r"(?:architecture|architectural|components?|modules?|packages?|dependency|dependencies|structure|system|class)"
_COMPONENTS = re.compile(
    rf"{_A}(?:(?:software )?{_PARTS} diagrams?|diagrams? of (?:the |its )?{_PARTS}){_PLACE}", re.IGNORECASE
)
_SEQUENCE = re.compile(
    rf"{_A}(?:(?:calls? )?sequence diagrams?|diagrams? of (?:the |its )?(?:calls|call sequence|sequence)){_PLACE}",
    re.IGNORECASE,
)
_CHART = (
    rf"{_A}(?P<kind>bar|line|pie|point|scatter)?[ -]?(?:chart|graph|plot|diagram|histogram)s? (?:of|for|showing|with) "
)
_FILES = re.compile(
    rf"{_CHART}(?:the |its |all )?(?:files? (?:by |per )?(?P<one>types?|kinds?|extensions?|sizes?|ages?|dates?)"
    rf"|(?P<two>types?|kinds?|sizes?|ages?) of (?:the |its |all )?files){_PLACE}",
    re.IGNORECASE,
)
_TABLE = re.compile(
    rf"{_CHART}(?:the )?(?:(?P<total>total|sum of|average|mean|number of|count of|maximum|max|minimum|min|highest"
    r"|lowest) )?(?:the )?(?P<y>[^,:]{1,100}?) (?:by|per|over|against|for each) (?:the )?(?P<x>[^,:]{1,100}?)"
    r" (?:from|in|of|using) (?:the )?(?:sheet [\"“]?(?P<sheet>[^\"”,:]{1,100}?)[\"”]? (?:of|in|from) (?:the )?)?"
    r"(?:file |table |sheet )?[\"“]?(?P<table>[^\"”]{1,200}\.(?:csv|tsv|xlsx))[\"”]?",
    re.IGNORECASE,
)
_CAPTURE = re.compile(
    rf"{_A}(?:screenshot|screen shot|capture|picture|image) of (?:the )?(?:page |file )?[\"“]?"
    r"(?P<page>[^\"”]{1,200}\.html?)[\"”]?",
    re.IGNORECASE,
)
_PICTURE = re.compile(
    rf"{_A}(?:picture|image|illustration|drawing|painting|logo|icon) (?:of|showing|for) (?P<prompt>.+)", re.IGNORECASE
)
_MADE = re.compile(r"\b(?:diagrams?|charts?|graphs?|plots?|srs|screenshots?)\b", re.IGNORECASE)
_AND = re.compile(r", and |,| and | plus |;")
_TOTALS = {
    **dict.fromkeys(("average", "mean"), "mean"),
    **dict.fromkeys(("number of", "count of"), "count"),
    **dict.fromkeys(("maximum", "max", "highest"), "max"),
    **dict.fromkeys(("minimum", "min", "lowest"), "min"),
}
_OF_FILES = {"type": "file_types", "kind": "file_types", "extension": "file_types", "size": "file_sizes"}
_SRS = re.compile(r"\b(?:srs|specifications?)\b", re.IGNORECASE)
_OF_CODE = re.compile(r"\b(?:architectur\w+|system|software|technical|design) overview\b", re.IGNORECASE)
_ENDINGS = {"markdown": "md"}


@dataclass(frozen=True, slots=True)
class _Item:
    """A thing to make."""

    type: StepType
    title: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class _Wish:
    """A request: what to make, and the document that holds it, if there is one."""

    items: tuple[_Item, ...]
    document: str = ""
    format: str = ""
    save_as: str = ""
    unknown: tuple[str, ...] = ()


def made(task: Task, tools: Sequence[ToolDefinition]) -> PlannerOutcome | None:
    """Return the plan or the question; None if the request is of another kind."""
    if not (offered := compiler.makers(tools)) or len(task.text) > LETTERS_MOST:
        return None
    wish = _read(" ".join(task.text.split()).rstrip(" .!?"))
    if wish is None:
        return None
    if wish.unknown or len(wish.items) > ITEMS_MOST:
        said = ", ".join(f"“{each}”" for each in wish.unknown) or f"{len(wish.items)} things at once"
        return ClarificationNeeded(texts.CANNOT_MAKE.format(said=said))
    if any(item.type not in offered for item in wish.items):
        return None
    taken = [str(name).rstrip("/") for name in task.workspace.get("names", ())]
    document = dsl.Document(version="1.0", tasks=list(_tasks(wish, taken)))
    try:
        return PlanDraft(compiler.compiled(document, tools).model_copy(update={"reasoning": ""}))
    except dsl.PlanRefused as refused:
        return Answered(str(refused), AnswerKind.DECLINED)


def _read(text: str) -> _Wish | None:
    while (courtesy := _PLEASE.match(text)) is not None:
        text = text[courtesy.end() :]
    text = text.removesuffix(" please").removesuffix(",")
    ordered = _VERB.match(text)
    text = text[ordered.end() :] if ordered is not None else _as_noun(text)
    text, name = _cut(_NAMED, text, "name")
    text, form = _cut(_FORMAT, text, "format")
    text, name = (text, name) if name else _cut(_NAMED, text, "name")
    if (held := _BY_FORMAT.match(text)) is not None:
        text, form = f"a document with {text[held.end() :]}", held["format"]
    form = _WORDS.get(form.lower(), form.lower())
    found = _DOCUMENT.fullmatch(text)
    wish = _document(found) if found is not None and (found["rest"] or _is_sure(found["name"])) else _single(text)
    if wish is None or (ordered is None and not wish.document and not _MADE.search(text)):
        return None
    if form in ("svg", "png") and wish.document:
        return _Wish(wish.items, unknown=(f"a document as {form.upper()}",))
    if form in ("pdf", "html", "markdown") and not wish.document:
        wish = _Wish(wish.items, wish.items[0].title if len(wish.items) == 1 else "Overview", unknown=wish.unknown)
    return _Wish(wish.items, wish.document, form, name, wish.unknown)


def _as_noun(text: str) -> str:
    """Return "chart of sales by month" for "chart sales by month"; a request may also begin with what is to be made."""
    found = re.match(r"(?P<verb>plot|chart|graph) (?!of\b|for\b)", text, re.IGNORECASE)
    return f"chart of {text[found.end() :]}" if found is not None else text


def _cut(pattern: re.Pattern[str], text: str, group: str) -> tuple[str, str]:
    found = pattern.search(text)
    return (text[: found.start()].rstrip(" ,"), found[group].strip()) if found is not None else (text, "")


def _document(found: re.Match[str]) -> _Wish | None:
    """Return a document with the things that it names, all of the same place unless they say another one."""
    place, told = _place(found["place"]), found["rest"]
    srs = _SRS.search(found["name"]) is not None
    name = "Software Requirements Specification" if srs else found["name"][:1].upper() + found["name"][1:]
    if not told:
        standard = (
            ("a component diagram",) if srs else ("a component diagram", "a sequence diagram", "a chart of file types")
        )
        return _wish([_item(each, place) for each in standard], name, standard)
    parts = [part.strip() for part in _AND.split(told) if part.strip()]
    items = [_item(part, place) for part in parts]
    return _wish(items, name, parts) if any(items) or _is_sure(found["name"]) else None


def _is_sure(name: str) -> bool:
    """Return whether a document of this name is one of diagrams; an overview of a folder may be a listing."""
    return _SRS.search(name) is not None or _OF_CODE.search(name) is not None


def _single(text: str) -> _Wish | None:
    """Return the things of a request without a document. The first must be one, else the request is of another kind."""
    if (whole := _item(text, ".")) is not None:
        return _Wish((whole,))
    parts = [part.strip() for part in _AND.split(text) if part.strip()]
    found = [_item(part, ".") for part in parts]
    if len(parts) < 2 or found[0] is None:
        return None
    return _wish(found, "", parts)


def _wish(found: Sequence[_Item | None], document: str, parts: Sequence[str]) -> _Wish | None:
    unknown = tuple(part for part, item in zip(parts, found, strict=True) if item is None)
    items = tuple(item for item in found if item is not None)
    return _Wish(items, document, unknown=unknown) if items or document else None


def _item(text: str, place: str) -> _Item | None:
    if (found := _TABLE.fullmatch(text)) is not None:
        return _of_table(found)
    if (found := _FILES.fullmatch(text)) is not None:
        word = (found["one"] or found["two"]).lower().rstrip("s")
        what = _OF_FILES.get(word, "file_ages")
        where = _place(found["place"]) if found["place"] else place
        title = f"{what.replace('_', ' ').capitalize()}{_of(where)}"
        return _Item(StepType.CHART, title, {"of": what, "path": where, **_kind(found["kind"])})
    for pattern, what, title in (
        (_SEQUENCE, "sequence", "Sequence diagram"),
        (_COMPONENTS, "components", "Components"),
    ):
        if (found := pattern.fullmatch(text)) is not None:
            where = _place(found["place"]) if found["place"] else place
            return _Item(StepType.DIAGRAM, f"{title}{_of(where)}", {"of": what, "path": where})
    if (found := _CAPTURE.fullmatch(text)) is not None:
        return _Item(StepType.CAPTURE, f"Page {found['page']}"[:200], {"page": found["page"]})
    if (found := _PICTURE.fullmatch(text)) is not None:
        prompt = found["prompt"]
        return _Item(StepType.IMAGE, f"{prompt[:1].upper()}{prompt[1:200]}", prompt=prompt)
    return None


def _of_table(found: re.Match[str]) -> _Item:
    total, y, x = (found["total"] or "").lower(), found["y"].strip(), found["x"].strip()
    counted = _TOTALS.get(total) == "count" or y.lower() in ("rows", "entries", "lines")
    inputs: dict[str, Any] = {"path": found["table"], "x": x, **_kind(found["kind"])}
    inputs |= {"sheet": found["sheet"]} if found["sheet"] else {}
    inputs |= {} if counted else {"y": y, "total": _TOTALS.get(total, "sum")}
    title = f"{total} {y} by {x}".strip()
    return _Item(StepType.CHART, f"{title[:1].upper()}{title[1:]}"[:200], inputs)


def _kind(said: str | None) -> dict[str, str]:
    return {"kind": {"scatter": "point"}.get(said.lower(), said.lower())} if said else {}


def _place(said: str | None) -> str:
    said = (said or "").strip('"“” ')
    if not said or re.fullmatch(_HERE, said, re.IGNORECASE):
        return "."
    return said.removeprefix("folder ").removesuffix(" folder").rstrip("/") or "."


def _of(place: str) -> str:
    return "" if place == "." else f" of {place}"[:100]


def _tasks(wish: _Wish, taken: Sequence[str]) -> Iterator[dsl.Task]:
    picture = wish.format if wish.format in ("svg", "png") else None
    for n, item in enumerate(wish.items, start=1):
        inputs = dict(item.inputs)
        if not wish.document and wish.save_as and n == 1:
            drawn = "svg" if item.type in (StepType.DIAGRAM, StepType.CHART) else "png"
            inputs["save_as"] = _file(wish.save_as, picture or drawn)
        yield dsl.Task(
            task_id=f"step_{n:02}",
            step_type=item.type,
            modality=item.type.modality,
            constraints=dsl.Constraints(format=picture),
            title=item.title,
            prompt=item.prompt,
            inputs=inputs,
        )
    if wish.document:
        form = wish.format or "pdf"
        plain = re.sub(r"[^\w]+", "-", wish.document.lower()).strip("-")
        yield dsl.Task(
            task_id=f"step_{len(wish.items) + 1:02}",
            step_type=StepType.COMPOSE,
            modality=StepType.COMPOSE.modality,
            depends_on=[f"step_{n:02}" for n in range(1, len(wish.items) + 1)],
            constraints=dsl.Constraints(format=form),
            title=wish.document[:200],
            inputs={"save_as": _file(wish.save_as, form) if wish.save_as else free_name(_file(plain, form), taken)},
        )


def _file(name: str, form: str) -> str:
    """Return the name of a file, with the ending of its format if it has none."""
    return name if re.search(r"\.\w{2,8}$", name) else f"{name}.{_ENDINGS.get(form, form)}"
