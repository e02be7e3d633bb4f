"""Which files a new name is for: those that the rest of the story chooses, apart from the names that it gives.

An example of a new name ("so like Harbour 3") speaks of one file and means many: it never chooses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from libs.models.offline.clauses import KINDS
from libs.models.offline.gist import shown
from libs.models.offline.gist.spelling import Files, Run, alike, parts, runs
from libs.models.offline.gist.story import HOLLOW, Some, Span, Story
from libs.models.offline.ground import singulars
from libs.models.offline.measures import Measured
from libs.models.offline.selection import patterns_of
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, concepts_of, fold, words
from libs.skills import selected

_ARTICLES = (
    r"the|my|our|all|every|each|those|these|both|two|three|four|folder|names?|files|of|ordner|den|der|dem|die"
    r"|meinen|allen"
    r"|namen?|dateien|la|el|las|los|tod[oa]s|mis|nombres?|archivos|carpeta|de"
)
LEADS = regex(
    r"\b(?:in|im|into|inside|within|under|from|of|for|on|with|bei|beim|aus|vom|von|der|den|dem|en|de|del"
    r"|dentro|para|ordner"
    rf"|folder|carpeta|directory)\s+(?:(?:{_ARTICLES})\s+)*[\"“„«]?$",
    re.IGNORECASE,
)
FOLDER_BEHIND = regex(r"^['’]?s?[\"”“»]?[\s-]+(?:(?:sub)?folder|(?:unter)?ordner|directory|carpeta)\b", re.IGNORECASE)
TOO = regex(r"^[\"”“»]?\s*,?\s*(?:too|as\s+well|also|auch|también|tambien)(?=\s*(?:[.,;!?]|$))", re.IGNORECASE)
TOO_BEFORE = regex(r"\b(?:even|auch|también|tambien)\s+(?:\w+\s+){0,5}$", re.IGNORECASE)
EXAMPLES = {
    "en": (
        r"(?:(?<!would )(?<!['’]d )(?<!\bI )(?<!n't )(?<!do )\blike|such\s+as|e\.?g\.?|for\s+(?:example"
        r"|instance)|as\s+in"
        r"|so\s+(?:they|it)\s+(?:are|reads?)|so\s+that\s+only|just(?=\s[^.;!?\n]*\bstays?\b))"
    ),
    "de": (
        r"(?:(?<=[\w,] )also(?=\s+(?-i:zb|z\.|so\b|[A-ZÄÖÜ]))|wie(?!\s+(?:er|es|sie)\b)|etwa|z\.?\s?b\.?"
        r"|zum\s+beispiel|beispielsweise|bspw\.?)"
    ),
    "es": r"(?:tipo|ej|p\.?\s?ej|por\s+ejemplo|como|o\s+sea|as[ií]\s+quede?n?|que\s+(?:se\s+)?quede?n?)",
}
SAMPLE = r"\d{2,4}-\d\d-\d\d(?:[ _-]+\w+)?"
LEFT = regex(
    r"\b(?:keep|leave|except|not|lass|au(?:ß|ss)er|nicht|bleib\w*|déja\w*|deja\w*|menos|salvo|excepto)\b", re.IGNORECASE
)
ALL = regex(
    r"\b(?:all|every|each|everything|both|alle[nrms]?|jede[rsnm]?|alles|sämtliche\w*|beide\w*|tod[oa]s|cada"
    r"|amb[oa]s)\b",
    re.IGNORECASE,
)
SIGNS = ",.;:!?\n"


def within(span: Span, beside: Sequence[Span]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in beside)


def examples(story: Story) -> list[Span]:
    """Where the story says how a new name may look."""
    form = re.compile(rf"(?:\b|^){EXAMPLES[story.language]}[,:.]?\s+(?:{SAMPLE}|[^.;!?\n]*)", re.IGNORECASE)
    return [*(found.span() for found in form.finditer(story.text)), *shown.spans(story)]


def scope(story: Story, files: Files, *, beside: Sequence[Span] = ()) -> Files:
    """Those of the files that are led to: by a folder, a kind, or a part of their names."""
    out = [*beside, *examples(story)]
    inside = _of_kind(story, _placed(story, files, out, led=True), out)
    for run in _choosers(story, inside, out):
        if LEADS.search(story.text[: run.start]):
            inside = [path for path in inside if path in run.held] or inside
    return inside


def chosen(story: Story, *, beside: Sequence[Span] = (), without: str = "") -> Some | None:
    """The files that anything was said of beside the new name: by folder, kind, time, or a part of their names. The
    words of the new name choose none by theirs.
    """
    out, held = [*beside, *examples(story)], story.ground.paths or ()
    times = tuple(one for one in story.times if not within((one.start, one.end), out) and not _in_names(story, one))
    out += [(one.start, one.end) for one in times]
    inside = _begun(story, _of_kind(story, _placed(story, held, out, led=False), out))
    led = [run for run in _choosers(story, inside, out) if LEADS.search(story.text[: run.start])]
    by = [run for run in _choosers(story, inside, out) if run in led or not _said_in(run.text, without, fold)]
    by = [run for run in by if run in led or not _said_in(run.text, without, _singular)] or by
    counted = [run for run in by if len(run.held) in _counts(story.text)][:1]
    for run in counted or sorted(by, key=lambda run: (_a_kind(run), len(run.held))):
        inside = [path for path in inside if path in run.held] or inside
    for word in story.words if story.language == "de" else ():
        long = word.unknown and len(word.folded) > COMPOUND and not within((word.start, word.end), out)
        inside = [path for path in story.having(word, inside) if long] or inside
    told = len(inside) < len(held) or times or ALL.search(story.text)
    return Some(tuple(inside), times=times) if told and inside else None


def _a_kind(run: Run) -> bool:
    """ "Fotos", which names may have as well."""
    return all({*KINDS} & {*concepts_of(fold(part.text))} for part in parts(run.text))


COMPOUND = 9
"""Letters of a word that may be two: "Zählerfotos"."""


def _in_names(story: Story, time: Measured) -> bool:
    """A year that stands in names is a part of these, and one that comes to others ("from 2025 too") bounds none."""
    year = YEAR.search(story.text, time.start, time.end)
    if TOLD.fullmatch(story.text[time.start : time.end].strip()) and not FROM.search(story.text[: time.start]):
        return True
    held = year and any(year.group() in path.rpartition("/")[2] for path in story.ground.paths or ())
    return bool(held) or TOO.match(story.text[time.end :]) is not None


YEAR = regex(r"(?<!\d)(?:19|20)\d\d(?![\d-])")


TOLD = regex(r"(?:yesterday|today|just now|gestern|heute|vorhin|ayer|hoy)", re.IGNORECASE)
FROM = regex(r"\b(?:from|of|since|von|vom|seit|aus|de|del|desde)\s+$", re.IGNORECASE)
""" "I paid them yesterday" tells when, and no age of a file."""


def around(story: Story, *, beside: Sequence[Span] = ()) -> list[str]:
    """The files of the folders that are named, be it only in passing."""
    out = [*beside, *examples(story)]
    return _of_kind(story, _placed(story, story.ground.paths or (), out, led=False), out)


def _said_in(text: str, name: str, form: Callable[[str], str]) -> bool:
    return {form(part.text) for part in parts(text)} <= {form(part.text) for part in parts(name)}


def _singular(word: str) -> str:
    """ "They are all fines: Fine 1, Fine 2"."""
    return min(singulars(fold(word)) or {word}, key=len)


COUNTS = {
    2: "two zwei dos",
    3: "three drei dreien tres",
    4: "four vier cuatro",
    5: "five fünf cinco",
    6: "six sechs seis",
}


def _counts(text: str) -> set[int]:
    """How many files are spoken of: "a los tres"."""
    told = text.casefold().split()
    return {n for n, forms in COUNTS.items() if not set(forms.split()).isdisjoint(told)}


STARTING = regex(
    r"\b(?:start(?:s|ing)?|begin(?:s|ning)?)\s+with\s+[\"“'‘]?(?P<en>[\w-]+)"
    r"|\bmit\s+[\"“„]?(?P<de>[\w-]+)[\"“”]?\s+(?:anfangen|anfängt|beginnen|beginnt|losgehen)"
    r"|\b(?:empiezan|empieza|comienzan|comienza|empezando)\s+(?:por|con|en)\s+[\"“«]?(?P<es>[\w-]+)",
    re.IGNORECASE,
)


def _begun(story: Story, files: Files) -> list[str]:
    """ "Those that start with 2026": by the first letters of their names."""
    for found in STARTING.finditer(story.text):
        head = (found["en"] or found["de"] or found["es"]).casefold()
        inside = [path for path in files if path.rpartition("/")[2].casefold().startswith(head)]
        files = inside or files
    return list(files)


def _choosers(story: Story, inside: Files, out: Sequence[Span]) -> list[Run]:
    """Words that some of these have in their names, and not all of them; those of a part that is left alone do not."""
    named = [(word.start, word.end) for _, naming in story.places for word in naming]
    found = (run for run in runs(story, inside, alike) if not within((run.start, run.end), (*out, *named)))
    return [run for run in found if len(run.held) < len(inside) and not _hollow(run) and not _left(story.text, run)]


DEEDS = HOLLOW - {"foreign"}
""" "WhatsApp" is no deed where names have it."""


def _hollow(run: Run) -> bool:
    return all(DEEDS & {*concepts_of(fold(part.text))} for part in parts(run.text))


def _left(text: str, run: Run) -> bool:
    start = max(text.rfind(sign, 0, run.start) for sign in SIGNS) + 1
    end = min((at for sign in SIGNS if (at := text.find(sign, run.end)) >= 0), default=len(text))
    return LEFT.search(text, start, end) is not None


def _of_kind(story: Story, files: Files, out: Sequence[Span]) -> list[str]:
    free = (word for word in story.words if not within((word.start, word.end), out))
    kinds = [pattern for word in free for one in _heads(word) for pattern in patterns_of(one, story.categories)]
    return [path for path in files if kinds and selected(path, include=kinds)] or list(files)


HEADS = ("fotos", "bilder", "videos", "filme", "dokumente", "tabellen", "pdfs")


def _heads(word: Word) -> Sequence[Word]:
    """ "Handyfotos" are photos."""
    head = next((head for head in HEADS if word.unknown and word.folded.endswith(head)), None)
    return words(head) if head else (word,)


def _placed(story: Story, files: Files, out: Sequence[Span], *, led: bool) -> list[str]:
    """Those in the folders that are named, all of them together; where one is led to, only in such."""
    told = list(_places(story, out))
    wanted = [folder for folder, leads, too in told if leads and not too]
    if not (wanted or led):
        wanted = [folder for folder, _, too in told if not too]
    also = [folder for folder, _, too in told if too] if wanted else []
    below = {path for folder in (*wanted, *also) for path in story.ground.below(folder)}
    return [path for path in files if path in below] or list(files)


def _places(story: Story, out: Sequence[Span]) -> Iterator[tuple[str, bool, bool]]:
    """Each with whether something leads to it, and whether it is one more beside others."""
    for folder, naming in story.places:
        start, end = naming[0].start, naming[-1].end
        head, tail = story.text[:start], story.text[end:]
        led = bool(LEADS.search(head) or FOLDER_BEHIND.match(tail))
        plain = all(word.filler or word.concepts for word in naming) and folder.rpartition("/")[2].islower()
        if within((start, end), out) or (plain and not led) or tail.startswith("/"):
            continue
        yield folder, led or bool(head.endswith("/")), bool(TOO.match(tail) or TOO_BEFORE.search(head))
