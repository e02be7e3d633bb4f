"""What else of an offered change a reply may say anew: its name, its end, its digits, whether the originals go."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from libs.models.offline.gist import called, cues, whereto
from libs.models.offline.gist.acts import COPY, DELETE, MOVE, PACK, RENAME, RENAMES, Act
from libs.models.offline.gist.aiming import examples
from libs.models.offline.gist.called import Called
from libs.models.offline.gist.placing import BY_DATE
from libs.models.offline.gist.series import FIRST_AND_SECOND
from libs.models.offline.gist.spelling import alike, standing, stem
from libs.models.offline.gist.stances import between
from libs.models.offline.gist.story import Span, Story
from libs.models.offline.measures import number_of
from libs.models.offline.originals import SINGLES
from libs.models.offline.paths import below
from libs.models.offline.pronouns import PRONOUNS
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold

Acts = Sequence[Act]
Restated = tuple[list[Act], list[Span]] | None
SORT = "organize-by-type.sort"
CLAUSE = regex(r"[,;:!?\n]+|\.(?=\s|$)|\b(?:but|aber|pero|sondern|sino)\b")
KEEPS = regex(
    r"(?<!\w)(?:keep|leave|stays?|behalt\w*|bleib\w*|lass\w*|conserv\w*|manten\w*|dej[ae]\w*|qued\w+"
    r"|(?:do ?n'?t|do not|never|without|nicht|ohne|no|sin)\s+(?:\w+\s+){0,3}?"
    r"(?:delet\w*|remov\w*|losch\w*|zu losch\w*|weg\w*|borr\w*|elimin\w*|quit\w*)"
    r"|(?:losch\w*|entfern\w*)\s+(?:\w+\s+){0,3}?nicht)(?!\w)"
)
AFTERWARDS = listed("then after afterwards danach hinterher anschließend luego despues after_that")
PLAIN = listed(
    "please bitte porfa and und y also auch but dont do not nicht no then dann the file files dateien archivos where"
    " they are alone originals as well too just it all of mit so right instead lieber mejor stattdessen want i ich"
    " will quiero"
)
DIGITS = regex(
    r"(?<!\w)(?P<n>\d|one|two|three|four|five|ein|zwei|drei|vier|funf|un|dos|tres|cuatro|cinco)[- ]?"
    r"(?:digits?|stellig\w*|stellen|ziffern|cifras|digitos)(?!\w)"
)
CAPITAL = regex(r"(?<!\w)(?:capitals?|big|upper ?case|gro(?:ß|ss)\w*|mayuscul\w*)(?!\w)")
SMALL = regex(r"(?<!\w)(?:small (?:letters?|\w)|lower ?case|klein\w*|minuscul\w*)(?!\w)")
TURNED = regex(
    r"(?<!\w)(?:(?:the )?other way (?:a?round|about)|vice versa|reversed?|andersrum|andersherum|umgekehrt"
    r"|verkehrt ?rum|al reves|a la inversa)(?!\w)"
)
TYPE = regex(r"(?<!\w)(?:by|nach|por)\s+(?:\w+\s+)?(?:type|kind|typ|art|tipo)(?!\w)")
ON = regex(r"(?:[\s,.;&]*(?:(?:and|und|y)\s+)?\d+\b)*")


def told(acts: Acts, reply: Story) -> tuple[list[Act], list[Span]]:
    """The changes with all of it that the reply says, and where in its text that stands, or an example of it."""
    new = list(acts)
    spans = examples(reply) if any(act.tool in (RENAME, RENAMES) for act in acts) else []
    for reader in READERS:
        if (found := reader(new, reply)) is not None:
            new, said = found
            spans += said
    return new, [*spans, *_new_names(new, reply.text)]


def _new_names(acts: Acts, text: str) -> list[Span]:
    """Where it says how one of them will be called: "so Allotment rules 2025". That is no choice of files."""
    told = {new for act in acts if "find" in act.plain for path in act.files if (new := _renamed(act, path))}
    found = (re.search(rf"(?<!\w){re.escape(new)}(?!\w)", text, re.IGNORECASE) for new in sorted(told))
    return [one.span() for one in found if one is not None]


def _renamed(act: Act, path: str) -> str | None:
    old = stem(path)
    new = old.replace(str(act.plain["find"]), str(act.plain.get("replace", "")))
    return new if new != old else None


def _series(acts: Acts, reply: Story) -> Restated:
    """ "Harbour 1, 2, 3": one name, and a number each."""
    found = FIRST_AND_SECOND.search(reply.text)
    if found is None or not all(act.tool in (RENAME, RENAMES) for act in acts):
        return None
    base = _title(found["stem"])
    if not base or standing(f"{base} {found['first']}", reply.ground.paths or (), alike) is not None:
        return None
    digits = max(len(found["first"]), max(len(str(len(act.files))) for act in acts))
    rest = ON.match(reply.text, found.end())
    return [act.named(base, digits) for act in acts], [(found.start(), rest.end() if rest else found.end())]


def _title(said: str) -> str:
    """Without what leads to it: "I said Harbour"."""
    led = called.NAMED.match(said.strip())
    told = said.strip()[led.end() if led else 0 :].strip(" '\"-_").split()
    while told and fold(told[0]) in LEADING:
        told = told[1:]
    return " ".join(told)


LEADING = listed(
    "i we you said meant mean want wanted rather instead please just it they should be make ich sagte meinte will"
    " wollte lieber bitte einfach halt sie sollen dije quise quiero queria mejor que sea sean"
)


def _name(acts: Acts, reply: Story) -> Restated:
    """ "Call it invoices 2024.zip", "que se llame X": what is made, or becomes of a file, is called so."""
    for one in (*called.archives(reply.text), *called.folders(reply.text)):
        new = [_called(act, one, reply) for act in acts]
        if new != list(acts):
            return new, [one.span]
    return None


def _called(act: Act, one: Called, reply: Story) -> Act:
    plainly = called.NAMED.match(reply.text, one.lead) or called.SHALL.match(reply.text, one.lead)
    if act.tool == PACK and (plainly or reply.text[one.end :].startswith(".")):
        home, old = _home(act)
        name = re.sub(r"\.(?:zip|tar\.gz|tgz|tar)$", "", one.name, flags=re.IGNORECASE)
        ending = re.search(r"(?:\.tar)?\.\w+$", reply.text[one.end : one.end + 7].split(" ")[0] or old)
        return _with(act, archive=below(home, f"{name}{ending.group() if ending else '.zip'}"))
    if not plainly:
        return act
    if "target" in act.plain:
        return _with(act, target=below(str(act.plain["target"]).rpartition("/")[0], one.name))
    if act.tool == RENAME or "base" in act.plain:
        return act.named(one.name, int(act.plain.get("digits", len(str(len(act.files))))))
    return act


def _home(act: Act) -> tuple[str, str]:
    """The folder of an archive, and its name, where it has got one."""
    home, _, name = str(act.plain.get("archive", "")).rpartition("/")
    homes = {path.rpartition("/")[0] for path in act.files}
    return (homes.pop() if not name and len(homes) == 1 else home), name


def _end(acts: Acts, reply: Story) -> Restated:
    """ "Into Rechnungen/2025 instead": another folder, there or new."""
    found = _folder(reply)
    if found is None:
        return None
    folder, span = found
    moves = reply.says("move") and all(act.tool == DELETE for act in acts)
    new = [Act(MOVE, {"target": folder}, act.files, act.bounds, whole=act.whole) if moves else act for act in acts]
    new = [_with(act, target=folder) if "target" in act.plain else act for act in new]
    return (new, [span]) if new != list(acts) and len({str(act.plain.get("target")) for act in acts}) == 1 else None


def _folder(reply: Story) -> tuple[str, Span] | None:
    for place in whereto.each(reply):
        if place.spans:
            return place.folder or place.name, (min(s for s, _ in place.spans), max(e for _, e in place.spans))
    for folder, by in reply.places:
        if whereto.clearly(reply, by):
            return folder, (by[0].start, by[-1].end)
    return None


def _originals(acts: Acts, reply: Story) -> Restated:
    """ "But keep the originals", "and then delete them"."""
    plain = cues.plain(reply.text)
    for start, end in _clauses(plain):
        said = [word for word in reply.words if start <= word.start < end]
        if not any(map(_them, said)) or not all(_them(word) or _little(word) for word in said):
            continue
        keeps = KEEPS.search(plain, start, end) is not None
        if not keeps and not any("remove" in word.concepts for word in said):
            continue
        new = [_keeping(act, keeps=keeps) for act in acts]
        if new != list(acts):
            return new, [(start, end)]
    return None


def _keeping(act: Act, *, keeps: bool) -> Act:
    if act.tool == PACK:
        return _with(act, remove=not keeps)
    return replace(act, tool=COPY) if act.tool == MOVE and keeps else act


def _clauses(plain: str) -> list[Span]:
    return [*between(CLAUSE, plain, 0, len(plain))]


def _them(word: Word) -> bool:
    return word.folded in SINGLES | PRONOUNS | AFTERWARDS or "then" in word.concepts


def _little(word: Word) -> bool:
    known = {"remove", "keep", "not", "file", "all", "untouched", "here", "then", "except", "only"}
    return word.filler or word.folded in PLAIN or (bool({*word.concepts}) and {*word.concepts} <= known)


def _other_deed(acts: Acts, reply: Story) -> Restated:
    """ "Copy them instead"."""
    plain = cues.plain(reply.text)
    for start, end in _clauses(plain):
        said = [word for word in reply.words if start <= word.start < end]
        deeds = [word for word in said if {"move", "copy"} & {*word.concepts}]
        rest = [word for word in said if word not in deeds]
        if len(deeds) != 1 or not all(_them(word) or _little(word) for word in rest):
            continue
        tool = COPY if "copy" in deeds[0].concepts else MOVE
        denied = any("not" in word.concepts for word in rest)
        new = [replace(act, tool=tool) if act.tool in (MOVE, COPY) and not denied else act for act in acts]
        if new != list(acts):
            return new, [(start, end)]
    return None


def _digits(acts: Acts, reply: Story) -> Restated:
    found = DIGITS.search(cues.plain(reply.text))
    number = number_of(found["n"]) if found else None
    if found is None or number is None or not any("base" in act.plain for act in acts):
        return None
    return [_with(act, digits=number) if "base" in act.plain else act for act in acts], [found.span()]


def _letters(acts: Acts, reply: Story) -> Restated:
    """ "With a capital A", "but keep the big A where there was one"."""
    plain = cues.plain(reply.text)
    big, small = CAPITAL.search(plain), SMALL.search(plain)
    found = big or small
    if found is None:
        return None
    end = next((start for start, stop in _clauses(plain) if start <= found.start() < stop), 0)
    span = next((one for one in _clauses(plain) if one[0] == end), found.span())
    written = [act for act in acts if _written(act) is not None]
    kept = [act for act in written if str(act.plain.get("find", ""))[:1].isupper()] or written
    new = [_lettered(act, upper=big is not None) if act in kept else act for act in acts]
    return (new, [span]) if new != list(acts) else None


def _written(act: Act) -> str | None:
    return next((name for name in ("replace", "base", "new_name", "prefix") if act.plain.get(name)), None)


def _lettered(act: Act, *, upper: bool) -> Act:
    name = _written(act) or ""
    text = str(act.plain[name])
    return _with(act, **{name: f"{text[0].upper() if upper else text[0].lower()}{text[1:]}"})


def _turned(acts: Acts, reply: Story) -> Restated:
    """ "The other way round"."""
    found = TURNED.search(cues.plain(reply.text))
    new = [_reversed(act) for act in acts] if found else []
    return (new, [found.span()]) if found and new != list(acts) else None


def _reversed(act: Act) -> Act:
    if act.plain.get("find") and act.plain.get("replace"):
        return _with(act, find=act.plain["replace"], replace=act.plain["find"])
    if "prefix" in act.plain or "suffix" in act.plain:
        text = str(act.plain.get("prefix", act.plain.get("suffix"))).strip(" _-")
        rest = {name: value for name, value in act.plain.items() if name not in ("prefix", "suffix")}
        end = {"suffix": f" {text}"} if "prefix" in act.plain else {"prefix": f"{text} "}
        return replace(act, plain={**rest, **end})
    if act.plain.get("written") in ("first", "last"):
        return _with(act, written="last" if act.plain["written"] == "first" else "first")
    return act


def _by(acts: Acts, reply: Story) -> Restated:
    """ "By month", of what was to be sorted."""
    date, kind = BY_DATE.search(reply.text), TYPE.search(cues.plain(reply.text))
    found = date or kind
    if found is None or not any(act.tool == SORT for act in acts):
        return None
    unit = ("month" if date["month"] or date["months"] else "year") if date else "extension_category"
    new = [_with(act, by=_unit(act, unit)) if act.tool == SORT else act for act in acts]
    return new, [found.span()]


def _unit(act: Act, unit: str) -> str:
    named = str(act.plain.get("by", "")).startswith("name_") and unit != "extension_category"
    return f"name_{unit}" if named else unit


def _with(act: Act, **plain: Any) -> Act:
    return replace(act, plain={**act.plain, **plain})


READERS: Sequence[Callable[[Acts, Story], Restated]] = (
    _series,
    _name,
    _end,
    _originals,
    _other_deed,
    _digits,
    _letters,
    _turned,
    _by,
)
